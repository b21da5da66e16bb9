exports.equal = (found, expected, message) => {
  if (found !== expected) throw new TypeError(message)
}
