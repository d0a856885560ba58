"""What an evaluation says about costs, as text."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from driftline.evaluation.summary import Summary


def cost_line(summary: "Summary") -> dict[str, str]:
    """Return the line about costs for the table of a summary, by its name; none without costs."""
    if summary.cost is None:
        return {}
    without = ""
    if summary.cost_without is not None:
        without = f"   (without costs {summary.cost_without:,.6g}, {summary.mean_cost_without:.4g} a row)"
    return {"cost": f"{summary.cost:,.6g}, {summary.mean_cost:.4g} a row{without}"}


def cost_sentences(summary: "Summary", name: str) -> list[str]:
    """Return what a report says about costs; nothing without costs."""
    if summary.cost is None:
        return []
    if summary.cost_without is None:
        sentences = [
            f"The predictions cost {summary.cost:,.6g} in total, {summary.mean_cost:.4g} a row; {name} gives no "
            "probabilities, so its predictions could not be chosen by their costs."
        ]
    else:
        sentences = [
            f"The predictions, chosen by their costs, cost {summary.cost:,.6g} in total, {summary.mean_cost:.4g} a "
            f"row; the plain predictions would have cost {summary.cost_without:,.6g} on the same rows, "
            f"{summary.mean_cost_without:.4g} a row."
        ]
    if summary.cost_labels_unseen:
        named = ", ".join(map(repr, summary.cost_labels_unseen))
        sentences.append(f"The costs name labels that never occurred: {named}; check their spelling.")
    return sentences
