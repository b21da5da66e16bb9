import type { Options } from './options.ts'

export async function startInteractive(_options: Options): Promise<number> {
  throw new Error('to be written')
}
export async function startDemo(_options: Options): Promise<number> {
  throw new Error('to be written')
}
