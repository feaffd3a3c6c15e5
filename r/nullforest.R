# Write a forest of ranger or randomForest to one file that nf.tally() and `nullforest test` read.
#
# forest: grown with keep.inbag = TRUE (without it, the sizes of nodes are approximate)
# x, y:   the features and the target that it was grown on; y is left out for survival forests
# file:   name of the file to write, such as "forest.json.gz"
write_forest <- function(forest, x, y = NULL, file, overwrite = FALSE) {
  if (file.exists(file) && !overwrite) stop(file, " exists; give another name or overwrite = TRUE")
  is_ranger <- inherits(forest, "ranger")
  trees <- forest$forest
  if (!is_ranger && !inherits(forest, "randomForest")) stop("no forest of ranger or randomForest")
  if (is.null(trees)) stop("the trees were not kept; grow with write.forest or keep.forest = TRUE")
  names <- if (is_ranger) trees$independent.variable.names else rownames(forest$importance)
  x <- as.data.frame(x)[, names, drop = FALSE]
  bags <- if (length(forest$inbag.counts)) do.call(cbind, forest$inbag.counts) else forest$inbag
  leaves <- if (is_ranger) predict(forest, x, type = "terminalNodes")$predictions
    else attr(predict(forest, x, nodes = TRUE), "nodes") - 1
  array <- function(v) paste0("[", paste(ifelse(is.na(v), "null", v), collapse = ","), "]")
  quoted <- function(v) paste0('"', gsub('(["\\\\])', '\\\\\\1', gsub("[[:cntrl:]]", " ", v)), '"')
  object <- function(...) paste0("{", paste0('"', names(list(...)), '":', list(...), collapse = ","), "}")
  tree <- function(t) {
    side <- function(i) if (is_ranger) trees$child.nodeIDs[[t]][[i]]
      else if (length(dim(trees$treemap)) == 3) trees$treemap[, i, t] - 1
      else trees[[c("leftDaughter", "rightDaughter")[i]]][, t] - 1
    used <- if (is_ranger) seq_along(trees$split.varIDs[[t]]) else seq_len(trees$ndbigtree[t])
    object(left = array(side(1)[used]), right = array(side(2)[used]), leaf = array(leaves[, t]),
      feature = array(if (is_ranger) trees$split.varIDs[[t]] else trees$bestvar[used, t] - 1),
      cut = array(if (is_ranger) trees$split.values[[t]] else trees$xbestsplit[used, t]),
      bag = if (is.null(bags)) "null" else array(bags[, t]))
  }
  counted <- function(v) length(v)^2 / sum(tabulate(match(v, unique(v)))^2) # levels of a column
  settings <- intersect(names(forest$call), c("importance", "always.split.variables",
    "split.select.weights", "regularization.factor", "case.weights", "class.weights", "classwt"))
  connection <- gzfile(file, "w")
  on.exit(close(connection))
  writeLines(enc2utf8(object(format = quoted("nullforest forest"), version = 1,
    source = quoted(if (is_ranger) "R ranger" else "R randomForest"), candidates = forest$mtry,
    importance = quoted(paste(forest$importance.mode)), rule = quoted(paste(forest$splitrule)),
    replace = if (isFALSE(forest$replace) || isFALSE(forest$call$replace)) "false" else "true",
    settings = array(quoted(settings)), names = array(quoted(names)),
    levels = array(vapply(x, counted, 0)), target = quoted(if (is.null(y)) "survival" else
      if (is.numeric(y)) "numbers" else "classes"), y = if (is.null(y)) "null" else
      array(if (is.numeric(y)) y else as.integer(factor(y))),
    trees = array(vapply(seq_len(ncol(leaves)), tree, "")))), connection, useBytes = TRUE)
}
