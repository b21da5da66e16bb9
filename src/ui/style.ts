import chalk, { Chalk } from 'chalk'

/** How the screen's own parts are set off. Words say the same: nothing is told by colour alone. */
export interface Style {
  dim: (text: string) => string
  strong: (text: string) => string
  accent: (text: string) => string
  good: (text: string) => string
  bad: (text: string) => string
  warn: (text: string) => string
}

export function styleOf(colour: boolean): Style {
  const paint = colour ? chalk : new Chalk({ level: 0 })
  return {
    dim: (text) => paint.dim(text),
    strong: (text) => paint.bold(text),
    accent: (text) => paint.cyan(text),
    good: (text) => paint.green(text),
    bad: (text) => paint.red(text),
    warn: (text) => paint.yellow(text),
  }
}
