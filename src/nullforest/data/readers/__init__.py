"""Files of data: the rows and columns of a file become a data set."""
