export interface EnvironmentOptions {
  /** false: only what a shell needs to work at all (PATH, HOME, locale, …). */
  inherit?: boolean | undefined
  /** Globs of names that are left out, such as `*_TOKEN`. */
  drop?: readonly string[] | undefined
  /** Added last, over everything else. */
  extra?: Record<string, string> | undefined
  /** Where it comes from; Tiller's own where nothing is said. */
  base?: Record<string, string | undefined> | undefined
}

/** The environment of a child: no editor, pager, prompt or colour, no repository of somebody else's, no secret. */
export function environment(options: EnvironmentOptions = {}): Record<string, string> {
  const base = options.base ?? process.env
  return { ...Object.fromEntries(Object.entries(base).filter((pair): pair is [string, string] => pair[1] !== undefined)), ...options.extra }
}
