# Tests of R packages. Called by r_packages.py with key=value arguments; writes one p-value per
# feature to p.bin, and the seconds of the test after them.
arguments <- strsplit(commandArgs(trailingOnly = TRUE), "=", fixed = TRUE)
given <- setNames(lapply(arguments, function(a) a[2]), vapply(arguments, function(a) a[1], ""))
number <- function(key) as.numeric(given[[key]])
read <- function(name, n) readBin(file.path(given$folder, name), "double", n, size = 8, endian = "little")

samples <- number("samples")
features <- number("features")
x <- matrix(read("X.bin", samples * features), samples, features)
colnames(x) <- paste0("x", seq_len(features))
survival <- number("survival") == 1
y <- read("y.bin", samples * (1 + survival))
if (number("classes")) y <- factor(y)
data <- if (survival) data.frame(x, y = head(y, samples), event = tail(y, samples)) else data.frame(x, y = y)

start <- proc.time()[["elapsed"]]
threads <- if (number("threads") > 0) number("threads") else NULL
grow <- function(importance) {
  ranger::ranger(
    dependent.variable.name = "y", data = data, num.trees = number("trees"),
    mtry = number("candidates"), importance = importance,
    min.node.size = if (survival) NULL else 1, # survival: ranger's own
    status.variable.name = if (survival) "event",
    write.forest = !survival, # its leaves keep a hazard at every time: gigabytes
    replace = number("replace") == 1, sample.fraction = number("fraction"),
    seed = number("seed"), num.threads = threads
  )
}

if (given$test == "altmann") {
  # Permutations grow their forests with these settings too; the seed advances by itself.
  set.seed(number("seed"))
  forest <- grow("impurity")
  p <- ranger::importance_pvalues(
    forest, method = "altmann", num.permutations = number("permutations"), formula = y ~ .,
    data = data, sample.fraction = number("fraction"), num.threads = threads
  )[, "pvalue"]
} else if (given$test == "janitza") {
  forest <- grow("impurity_corrected")
  p <- suppressWarnings(ranger::importance_pvalues(forest, method = "janitza"))[, "pvalue"]
  values <- ranger::importance(forest)
} else {
  forest <- grow("impurity")
  table <- randomForestExplainer::measure_importance(forest, measures = c("no_of_nodes", "p_value"))
  p <- table$p_value[match(colnames(x), as.character(table$variable))]
  p[is.na(p)] <- 1 # a feature that was never selected is not in the table
}
if (exists("values")) writeBin(as.double(values), file.path(given$folder, "values.bin"), size = 8, endian = "little")
p <- c(p, proc.time()[["elapsed"]] - start)
writeBin(as.double(p), file.path(given$folder, "p.bin"), size = 8, endian = "little")
