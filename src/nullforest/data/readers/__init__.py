"""Files of data: the rows and columns of a file become features and a target."""

from nullforest.data.readers.tables import Table, read_table
from nullforest.data.readers.target_column import TASKS, Task

__all__ = ["TASKS", "Table", "Task", "read_table"]
