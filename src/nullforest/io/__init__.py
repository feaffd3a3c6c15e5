"""How do a file's rows and columns become features and a target? Formats, then checks."""

from nullforest.io.tables import Table, read_table
from nullforest.io.target_column import TASKS, Task

__all__ = ["TASKS", "Table", "Task", "read_table"]
