"""The bodies of requests, as the OpenAPI description has them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from driftline.serve.service import NAME

Cell = StrictBool | StrictInt | StrictFloat | Annotated[StrictStr, Field(max_length=10_000)] | None
RowBody = dict[Annotated[str, Field(max_length=200)], Cell] | list[Cell]
LabelBody = StrictBool | StrictInt | Annotated[StrictStr, Field(max_length=256)]
RowId = Annotated[StrictStr, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]


class Body(BaseModel):
    """A body that has no members but these."""

    model_config = ConfigDict(extra="forbid")


class ColumnBody(Body):
    """A column of the rows."""

    name: str = Field(min_length=1, max_length=200)
    kind: Literal["number", "date", "category"]
    values: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=1000)


class StreamBody(Body):
    """A stream to create."""

    name: str = Field(
        description="Letters, digits, '.', '_' and '-'; the first is a letter or a digit.",
        json_schema_extra={"pattern": f"^{NAME.pattern}$"},
    )
    parameters: dict[str, Any] = Field(
        default={}, description="Parameters of AMRC, such as {'features': 'linear'}; `guarantees` is an object."
    )
    columns: list[ColumnBody] | None = Field(
        default=None, max_length=1000, description="The columns of the rows; by default those of the first rows."
    )
    expire_after: float | None = Field(
        default=None, gt=0, description="Seconds after which a row without a label is given up; 30 days by default."
    )


class StreamChange(Body):
    """A change of a stream."""

    paused: StrictBool


class ShadowBody(Body):
    """A shadow to start."""

    parameters: dict[str, Any] = Field(description="Parameters of AMRC, as for a stream.")


class KeyBody(Body):
    """A key to create."""

    name: str = Field(min_length=1, max_length=100)
    scopes: dict[Annotated[str, Field(max_length=100)], Literal["read", "write", "admin"]] = Field(
        min_length=1, max_length=100, description="The role for each stream; '*' stands for all streams."
    )


class SessionBody(Body):
    """A key to keep in a cookie."""

    key: str = Field(max_length=200)


class WebhookBody(Body):
    """A webhook to add."""

    url: str = Field(
        max_length=2000, description="The address that gets events by POST.", json_schema_extra={"format": "uri"}
    )


class PredictBody(Body):
    """Rows to predict."""

    rows: list[RowBody] = Field(min_length=1, description="Objects with columns by name, or arrays of values.")
    ids: list[RowId] | None = Field(default=None, description="Ids of the rows, for their labels; by default new ones.")


class LabelledRow(Body):
    """The label of a row."""

    id: RowId
    label: LabelBody


class LabelsBody(Body):
    """Labels of rows that were predicted."""

    labels: list[LabelledRow] = Field(min_length=1)


class LearnBody(Body):
    """Rows with their labels."""

    rows: list[RowBody] = Field(min_length=1)
    labels: list[LabelBody] = Field(min_length=1)
    ids: list[RowId] | None = Field(default=None, description="Ids by which rows that come twice are learned once.")
