import type { Target } from '../executable/executable.ts';

/** A kind of machine that `semaphore` is released for, by the names of krew. */
export type Platform = {
  readonly os: string;
  /** Undefined: any. */
  readonly arch?: string;
  /** Whose Node.js is inside; undefined: the program needs one. */
  readonly node?: Target;
  /** The file of the program in its archive. */
  readonly bin: string;
};

/** By the names in files. npm has no current Node.js for macOS, where an executable must also be signed. */
export const platforms = {
  'linux-amd64': { os: 'linux', arch: 'amd64', node: 'linux-x64', bin: 'semaphore' },
  'linux-arm64': { os: 'linux', arch: 'arm64', node: 'linux-arm64', bin: 'semaphore' },
  'windows-amd64': { os: 'windows', arch: 'amd64', node: 'win-x64', bin: 'semaphore.exe' },
  darwin: { os: 'darwin', bin: 'semaphore' },
} as const satisfies Readonly<Record<string, Platform>>;

export type PlatformName = keyof typeof platforms;

export const platformNames = Object.keys(platforms) as readonly PlatformName[];

/** The file of a release with the program for a platform. */
export const archiveOf = (name: PlatformName): string => `semaphore-${name}.tar.gz`;
