const known = new Map()

/** A built-in module of Node, without the detour of `import` (see quick-start.js). */
export function builtin(name) {
  let module = known.get(name)
  if (!module) known.set(name, (module = process.getBuiltinModule(name)))
  return module
}

/** One of its functions; the module is loaded when that is called for the first time. */
export function later(name, key) {
  let made
  return (...args) => (made ??= builtin(name)[key])(...args)
}
