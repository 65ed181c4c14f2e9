import { isDnsLabel, isLabelValue, MAX_LABEL } from '@kube-semaphore/naming';
import { checkedText, type OptionType } from '@kube-semaphore/options';
import { bad, good } from '@kube-semaphore/net';
import { GLOBAL, prefixProblem } from '../names.ts';
import { parseLabelSelector } from './label-selector.ts';

/** The name of a cluster: it is the value of a label of our EndpointSlices, and keys begin with it. */
export const clusterName = checkedText('name', nameProblem);

/** What the names of a remote's mirrors begin with. */
export const servicePrefix = checkedText('prefix', prefixProblem);

/** The prefix of the one remote of a command line, which is also its name. */
export const onlyPrefix = checkedText('prefix', (raw) => prefixProblem(raw) ?? nameProblem(raw));

/** The name of a namespace. */
export const namespace = checkedText('namespace', (raw) =>
  isDnsLabel(raw) ? undefined : 'is not a valid namespace name',
);

/** A label selector as Kubernetes writes it, verbatim: API servers read it, too. */
export const selector: OptionType<string> = {
  label: 'selector',
  format: String,
  parse(raw) {
    const parsed = parseLabelSelector(raw);
    return parsed.ok ? good(raw) : bad(parsed.reason);
  },
};

function nameProblem(raw: string): string | undefined {
  if (raw === '' || !isLabelValue(raw))
    return `is not a valid cluster name: 1 to ${MAX_LABEL} letters, digits, "-", "_" and "."`;
  return raw === GLOBAL ? 'is not a valid cluster name: keys of global Services begin with it' : undefined;
}
