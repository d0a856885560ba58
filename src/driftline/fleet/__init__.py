"""Fleets: one small model for each of many keys, such as customers, machines or sensors."""

from driftline.fleet.fleet import AMRCFleet, FleetPredictions

__all__ = ["AMRCFleet", "FleetPredictions"]
