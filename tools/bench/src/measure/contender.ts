import { basename } from 'node:path';
import type { Command } from './program.ts';

/** What a program under test is pointed to. */
type Targets = {
  /** Kubeconfig of the cluster where it writes. */
  readonly local: string;
  /** Kubeconfig of the cluster that it watches. */
  readonly remote: string;
  /** Name of the latter. */
  readonly cluster: string;
};

/** A program that runs in the bench: a column of its table. */
export type Contender = { readonly name: string; readonly command: (targets: Targets) => Command };

/** Our own program, started by its launcher. */
export function ours(launcher: string, encoding: 'auto' | 'json'): Contender {
  return {
    name: encoding === 'json' ? 'ours, JSON' : 'ours',
    command: ({ local, remote, cluster }) => {
      const flags = {
        'local-kube-config': local,
        'target-kube-config': remote,
        'target-cluster-name': cluster,
        'listen-address': '127.0.0.1:0',
        encoding,
      };
      return [launcher, ...Object.entries(flags).flatMap(([flag, value]) => [`-${flag}`, value])];
    },
  };
}

/** Any other program: a simple command of the shell with `{local}`, `{remote}` and `{cluster}` in it. */
export function peer(template: string): Contender {
  const program = template.split(/\s+/).find((word) => !word.includes('=') && word !== 'env') ?? template;
  return {
    name: basename(program),
    command: (targets) => {
      const text = template.replaceAll(/\{(local|remote|cluster)\}/g, (_, name: keyof Targets) => targets[name]);
      // Replaces the shell, so that the process which is measured is the program itself.
      return ['/bin/sh', '-c', `exec ${text}`];
    },
  };
}
