import { Worker } from 'node:worker_threads'

/** A thread that runs the module of this name: the source beside this one, or the file beside the bundle (see scripts/build.js). It is given no environment. */
export function startWorker(name: 'search-worker' | 'image-worker', memoryMegabytes = 2_048): Worker {
  const suffix = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new Worker(new URL(`./${name}.${suffix}`, import.meta.url), { env: {}, resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes } })
}
