import type { ResolvedName } from '../clusters/app-status.ts';
import { readPods } from '../clusters/report.ts';
import { GLOBAL } from '../corefile/rules.ts';
import { checkOfCauses } from './check.ts';
import { unresolvedRemotes } from './dns-rules.ts';

/**
 * Whether Pods get the addresses of mirrors. semaphore-service-mirror asks for them as any Pod does, so each resolver between
 * its Pod and CoreDNS takes part, and any other DNS server than CoreDNS.
 */
export const namesResolved = checkOfCauses('names-resolved', {
  hint: 'wait half a minute; then look at what Pods of this node ask, such as NodeLocal DNSCache',
  subjects: (readings) =>
    readings.flatMap((reading) => {
      const unresolved = unresolvedRemotes(reading);
      return readPods([reading]).flatMap((read) =>
        Array.from(
          Map.groupBy(read.status.names ?? [], ({ remote }) => remote),
          ([remote, names]) => ({ ...read, remote, names, isTold: unresolved.has(remote) }),
        ),
      );
    }),
  troubleOf: ({ pod, remote, names, isTold }) => {
    // One thing is shown once: `dns-rules` names the server that is wrong.
    if (isTold || names.some(isRight)) return undefined;
    const whose = remote === GLOBAL.name ? 'global Services' : remote;
    const said = names.map(({ name, ...answer }) => `${saidIn(answer)} for ${name}`).join(', ');
    const why = `on node ${pod.node}, DNS says ${said}, not ${names[0]!.address}`;
    return { lead: `names of ${whose} don't resolve: in`, why };
  },
});

const isRight = ({ address, answers = [] }: ResolvedName): boolean =>
  answers.length > 0 && answers.every((answer) => answer === address);

const words: Readonly<Record<string, string>> = {
  ENOTFOUND: 'NXDOMAIN',
  ENODATA: 'no address',
  ETIMEOUT: 'nothing',
  ECONNREFUSED: 'nothing',
};

const saidIn = ({ answers = [], error }: Pick<ResolvedName, 'answers' | 'error'>): string =>
  error === undefined ? answers.join(' and ') : (words[error] ?? error.replace(/^E/, ''));
