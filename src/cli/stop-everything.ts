import { endAll } from '../os/living.ts'

/** Every process that is left ends with Tiller. */
export async function stopEverything(): Promise<void> {
  await endAll()
}
