import { storeFlags } from '@kube-semaphore/testkit';
import { run, works } from './run.ts';

/** A Dockerfile, and what it is made of. */
type Recipe = {
  /** The Dockerfile. */
  readonly file: string;
  /** The folder that it copies from. */
  readonly context: string;
  readonly args?: Readonly<Record<string, string>>;
};

/** An image, and what it is built of. */
export type Build = Recipe & {
  /** Name and tag of the result. */
  readonly tag: string;
  /** When its files were made, in seconds, as SOURCE_DATE_EPOCH; else each says when it was. */
  readonly epoch?: number | undefined;
};

/** In the order of preference. */
export const builderNames = ['docker', 'buildah', 'podman'] as const;

export type BuilderName = (typeof builderNames)[number];

/** A program that makes images of Dockerfiles. All of them understand the same `build`. */
export type Builder = {
  readonly name: BuilderName;
  /** The program, with the flags that it has in any case. */
  readonly command: readonly [file: string, ...flags: string[]];
  /** Flags of its `build`. */
  readonly buildFlags: readonly string[];
  /** Flags by which it asks a registry for what it hasn't, or doesn't. */
  readonly pull: (wanted: boolean) => readonly string[];
  /** Flags by which the files of an image, and its own time, are of that second. */
  readonly date: (epoch: number) => readonly string[];
  /** What removes, from a store that is ours, what builds leave there: stages, and images that lost their names. */
  readonly tidyUp?: readonly (readonly string[])[];
};

/** In a chroot a build needs no rights but root's, so that it works in a container, too. */
const inChroot = ['--isolation', 'chroot'];

const timestamp = (epoch: number): readonly string[] => ['--timestamp', `${epoch}`];

const builders: readonly Builder[] = [
  {
    name: 'docker',
    command: ['docker'],
    buildFlags: [],
    pull: () => [],
    date: (epoch) => ['--build-arg', `SOURCE_DATE_EPOCH=${epoch}`],
  },
  {
    name: 'buildah',
    command: ['buildah', ...storeFlags('buildah')],
    buildFlags: inChroot,
    pull: (wanted) => (wanted ? [] : ['--pull-never']),
    date: timestamp,
    tidyUp: [
      ['rm', '--all'],
      ['rmi', '--prune'],
    ],
  },
  {
    name: 'podman',
    command: ['podman', ...storeFlags('podman')],
    buildFlags: inChroot,
    pull: (wanted) => (wanted ? [] : ['--pull=never']),
    date: timestamp,
    tidyUp: [['image', 'prune', '--force']],
  },
];

/**
 * The first builder that works here; a docker without its daemon doesn't.
 *
 * @param wanted the only one that will do, if one is
 * @throws {Error} that says what to install
 */
export async function findBuilder(wanted?: BuilderName): Promise<Builder> {
  for (const builder of builders)
    if ((wanted ?? builder.name) === builder.name && (await works([...builder.command, 'info']))) return builder;
  if (wanted !== undefined) throw new Error(`${wanted} doesn't work here`);
  throw new Error(
    'neither docker (with its daemon) nor buildah nor podman works here: install one of them, such as Debian’s package buildah',
  );
}

/**
 * Builds an image.
 *
 * @param registry whether it may ask a registry for what it is built on
 * @throws {Error} with the end of the builder's words
 */
export async function buildImage(
  builder: Builder,
  { tag, epoch, ...build }: Build,
  { registry }: { registry: boolean },
): Promise<void> {
  const date = epoch === undefined ? [] : builder.date(epoch);
  await runBuild(builder, build, [...builder.pull(registry), ...date, '-t', tag]);
}

/** Files that a Dockerfile gathers, and the folder that they go to. */
export type Export = Recipe & {
  readonly to: string;
  /** Of the images that it gathers them from, such as `linux/arm64`; else that of this machine. */
  readonly platform?: string | undefined;
};

/**
 * Builds what isn't an image but a few files.
 *
 * @throws {Error} with the end of the builder's words
 */
export async function exportFiles(
  builder: Builder,
  { to, platform, ...build }: Export,
  { registry }: { registry: boolean },
): Promise<void> {
  const from = platform === undefined ? [] : ['--platform', platform];
  await runBuild(builder, build, [...builder.pull(registry), ...from, '--output', `type=local,dest=${to}`]);
}

async function runBuild(
  { command, buildFlags }: Builder,
  { file, context, args = {} }: Recipe,
  flags: readonly string[],
): Promise<void> {
  const buildArgs = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  // Only BuildKit leaves out the stages that nobody needs.
  const env = { DOCKER_BUILDKIT: '1' };
  await run([...command, 'build', ...buildFlags, ...flags, '-f', file, ...buildArgs, context], env);
}

/**
 * Sees to it that an image is in the builder's store: a build may use one that isn't.
 *
 * @throws {Error} if it is neither there nor in a registry
 */
export async function fetchImage({ command }: Builder, name: string): Promise<void> {
  if (!(await works([...command, 'inspect', '--type', 'image', name]))) await run([...command, 'pull', name]);
}

/** Removes what builds left in a store that is ours, but for images that containers run on: they stay until next time. */
export async function tidyUp({ command, tidyUp: commands = [] }: Builder): Promise<void> {
  for (const words of commands) await works([...command, ...words]);
}

/** How large an image is with everything that it is built on, unpacked, in bytes; buildah rounds. */
export async function imageBytes({ name, command }: Builder, tag: string): Promise<number> {
  if (name === 'buildah') return parseSize(await run([...command, 'images', '--format', '{{.Size}}', tag]));
  return Number(await run([...command, 'image', 'inspect', '--format', '{{.Size}}', tag]));
}

const UNITS: Readonly<Record<string, number>> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 };

/**
 * The bytes of `204 MB`.
 *
 * @throws {Error} if it is no size
 */
export function parseSize(words: string): number {
  const [, value, unit = ''] = /^([\d.]+) ?([a-zA-Z]+)$/.exec(words.trim()) ?? [];
  const factor = UNITS[unit.toUpperCase()];
  if (value === undefined || factor === undefined) throw new Error(`not a size: ${words.trim()}`);
  return Number(value) * factor;
}
