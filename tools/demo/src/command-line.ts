import { parseArgs } from 'node:util';

/** What the demo was asked to do. */
export type CommandLine =
  | { readonly kind: 'run'; readonly keep: boolean; readonly real: boolean }
  | { readonly kind: 'help' }
  | { readonly kind: 'bad-usage'; readonly problem: string };

/** What `--help` prints. */
export const help = `Usage: npm run demo [-- FLAGS]

Shows kube-semaphore at work between two small clusters on this machine, in half a minute.

  --keep   keep everything running afterwards, with kubeconfigs to look around, until Ctrl-C
  --real   use real API servers (kube-apiserver and etcd, built by "npm run binaries"); if this machine can show
           packets, two whole clusters follow, with all that Kubernetes runs, for about three minutes
  --help   print this
`;

/** Reads the arguments, without the two that Node.js adds. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const flag = { type: 'boolean', default: false } as const;
  const options = { keep: flag, real: flag, help: { ...flag, short: 'h' } } as const;
  try {
    const { values } = parseArgs({ args: [...args], options });
    return values.help ? { kind: 'help' } : { kind: 'run', keep: values.keep, real: values.real };
  } catch (error) {
    // The first sentence names the argument. The others are about positional arguments.
    return { kind: 'bad-usage', problem: (error as Error).message.split('. ')[0] ?? '' };
  }
}
