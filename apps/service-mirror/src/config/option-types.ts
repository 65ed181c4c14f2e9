import { isDnsLabel, isLabelValue, MAX_LABEL } from '@kube-semaphore/naming';
import { GLOBAL, prefixProblem } from '../names.ts';
import { bad, good } from '@kube-semaphore/net';
import type { OptionType } from '@kube-semaphore/options';
import { parseLabelSelector } from './label-selector.ts';

/** The name of a cluster: a label of our EndpointSlices has it as its value, and keys begin with it. */
export const clusterName: OptionType<string> = {
  label: 'name',
  format: String,
  parse(raw) {
    if (raw === '' || !isLabelValue(raw)) {
      return bad(`${excerpt(raw)} is no cluster's name: 1 to ${MAX_LABEL} letters, digits, "-", "_" and "."`);
    }
    return raw === GLOBAL
      ? bad(`${excerpt(raw)} is what keys of global services begin with, and no cluster's name`)
      : good(raw);
  },
};

/** What the names of a remote's mirrors begin with. */
export const servicePrefix: OptionType<string> = {
  label: 'prefix',
  format: String,
  parse(raw) {
    const problem = prefixProblem(raw);
    return problem === undefined ? good(raw) : bad(`${excerpt(raw)} ${problem}`);
  },
};

/** The prefix of the one remote of a command line. The remote has no other name, so it must be fit for one, too. */
export const onlyPrefix: OptionType<string> = {
  ...servicePrefix,
  parse(raw) {
    const prefix = servicePrefix.parse(raw);
    return prefix.ok ? clusterName.parse(raw) : prefix;
  },
};

/** The name of a namespace. */
export const namespace: OptionType<string> = {
  label: 'namespace',
  format: String,
  parse: (raw) => (isDnsLabel(raw) ? good(raw) : bad(`${excerpt(raw)} is no name of a namespace`)),
};

/** A label selector as Kubernetes writes it, kept as it is: API servers read it, too. */
export const selector: OptionType<string> = {
  label: 'selector',
  format: String,
  parse(raw) {
    const parsed = parseLabelSelector(raw);
    return parsed.ok ? good(raw) : parsed;
  },
};

function excerpt(raw: string): string {
  return JSON.stringify(raw.length > 80 ? `${raw.slice(0, 80)}…` : raw);
}
