"""Files of data: the rows and columns of a file become features and a target."""

from nullforest.io.tables import Table, read_table
from nullforest.io.target_column import TASKS, Task

__all__ = ["TASKS", "Table", "Task", "read_table"]
