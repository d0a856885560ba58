"""Fleets: one small model for each of many keys, such as customers, machines or sensors."""

from driftline.fleet.fleet import AMRCFleet
from driftline.fleet.predictions import FleetPredictions

__all__ = ["AMRCFleet", "FleetPredictions"]
