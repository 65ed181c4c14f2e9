import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Place } from '@kube-semaphore/testnet';
import { type Program, startProgram } from '../program/program.ts';
import { podman } from './image.ts';
import { podmanFlags, runWords } from './run.ts';

/** Between attempts to remove a container that is still being made. */
const PAUSE_MS = 500;

/** How a container differs from its image, as a Pod says it. */
export type ContainerOptions = {
  readonly image: string;
  /** In the place of the image's own program. */
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Files and folders of this machine, by where they are in the container: read-only but for those that end in `:rw`. */
  readonly mounts?: Readonly<Record<string, string>>;
  readonly devices?: readonly string[];
  /** Of all that root may do; default nothing. */
  readonly capabilities?: readonly string[];
  /** Whose network it is in. Default this machine's. */
  readonly place?: Place;
};

/** A container, as the program that runs in it. */
export type Container = Program & {
  /** Removes it, whether it still runs or not. */
  readonly remove: () => Promise<void>;
};

/** A name that no other container has. */
const containerName = (): string => `kube-semaphore-${randomUUID()}`;

/**
 * Starts a container in which nothing can be written, whose program has the rights that it is given and can't get
 * others, as `restricted` Pods are.
 */
export function startContainer({
  image,
  command,
  args = [],
  env = {},
  mounts = {},
  devices = [],
  capabilities = [],
  place,
}: ContainerOptions): Container {
  const name = containerName();
  const words = runWords({
    name,
    image,
    command,
    args,
    env,
    binds: [
      ...devices.map((device) => ({ source: device, target: device, readOnly: false })),
      ...Object.entries(mounts).map(([target, source]) => ({
        source: source.replace(/:rw$/, ''),
        target,
        readOnly: !source.endsWith(':rw'),
      })),
    ],
    capabilities,
    networkFile: place?.networkFile,
  });
  const program = startProgram(['podman', [...podmanFlags(), ...words]], process.env, { place });
  return { ...program, remove: () => removeContainer(name, program.exited) };
}

/**
 * Removes a container, whether it runs, has ended, or is still being made.
 *
 * @param exited resolves when the `podman run` that makes it has ended
 */
async function removeContainer(name: string, exited: Promise<unknown>): Promise<void> {
  const gone = exited.then(() => true);
  do await podman(['rm', '--force', '--ignore', '--time=0', name]);
  while (!(await Promise.race([gone, delay(PAUSE_MS, false)])));
}
