import { parseArgs } from 'node:util';

/** What the demo was asked to do. */
export type CommandLine =
  | { readonly kind: 'run'; readonly keep: boolean; readonly real: boolean }
  | { readonly kind: 'help' }
  | { readonly kind: 'bad-usage'; readonly problem: string };

/** What `--help` prints. */
export const help = `Usage: npm run demo [-- FLAGS]

Shows kube-semaphore at work between two small clusters on this machine, in a few seconds.

  --keep   leave everything running afterwards, with kubeconfigs to look around, until Ctrl-C
  --real   use real API servers (kube-apiserver and etcd, built by "npm run binaries"); where the packets can be
           shown, too, then two whole clusters follow in which nothing stands in for anything, for about three minutes
  --help   print this
`;

/** Reads the arguments, without the two that Node.js adds. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const flag = { type: 'boolean', default: false } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { keep: flag, real: flag, help: { ...flag, short: 'h' } },
    });
    return values.help ? { kind: 'help' } : { kind: 'run', keep: values.keep, real: values.real };
  } catch (error) {
    // Its first sentence names the argument; the next ones are about positional arguments, of which there are none.
    const [problem = ''] = (error as Error).message.split('. ');
    return { kind: 'bad-usage', problem };
  }
}
