import { doctor } from '../doctor.ts'
import type { Options } from '../options.ts'
import { surroundings } from './surroundings.ts'

export async function doctorCommand(options: Options): Promise<number> {
  const { place, settings } = await surroundings(options)
  process.stdout.write(`${await doctor(place, { ...settings, warnings: [] }, options)}\n`)
  return 0
}
