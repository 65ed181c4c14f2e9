import { basename } from 'node:path';
import type { Command } from './program.ts';

/** What a program under test is pointed to. */
export type Targets = {
  /** Kubeconfig of the cluster where it writes. */
  readonly local: string;
  /** The clusters that it watches, at least one. */
  readonly remotes: readonly { readonly name: string; readonly kubeconfig: string }[];
  /** A folder for files of the command's own. */
  readonly dir: string;
};

/** Texts by name, made for targets: flags without their hyphen, or what `{name}` stands for. */
export type Texts = (targets: Targets) => Promise<Readonly<Record<string, string>>>;

/** A program that runs in the bench: a column of its table. */
export type Contender = { readonly name: string; readonly command: (targets: Targets) => Promise<Command> };

/** Our own program, started by its launcher with the app's flags. */
export function ours(launcher: string, encoding: 'auto' | 'json', flags: Texts): Contender {
  return {
    name: encoding === 'json' ? 'ours, JSON' : 'ours',
    command: async (targets) => {
      const all = { 'listen-address': '127.0.0.1:0', encoding, ...(await flags(targets)) };
      return [launcher, ...Object.entries(all).flatMap(([flag, value]) => [`-${flag}`, value])];
    },
  };
}

/** Any other program: a simple command of the shell in which `{name}` stands for one of `values`. */
export function peer(template: string, values: Texts): Contender {
  const program = template.split(/\s+/).find((word) => !word.includes('=') && word !== 'env') ?? template;
  return {
    name: basename(program),
    command: async (targets) => {
      const texts = await values(targets);
      const text = template.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => texts[name] ?? placeholder);
      // Replaces the shell, so that the process which is measured is the program itself.
      return ['/bin/sh', '-c', `exec ${text}`];
    },
  };
}

/** What stands in every app's commands for its clusters, of which the remote one is the first. */
export function clusterValues({ local, remotes: [first] }: Targets): {
  local: string;
  remote: string;
  cluster: string;
} {
  if (first === undefined) throw new Error('a program is pointed to no remote cluster');
  return { local, remote: first.kubeconfig, cluster: first.name };
}
