import type { NetworkSet } from '../stage/set-watch.ts';

/** How many addresses of a set are shown: those of three dual-stack pods. */
const SHOWN = 6;

/** A GlobalNetworkSet as `kubectl get -o yaml` shows it, without what the API server adds. */
export function networkSetYaml({ name, labels, nets }: NetworkSet): string[] {
  const rest = nets.length - SHOWN;
  return [
    'kind: GlobalNetworkSet',
    'metadata:',
    `  name: ${name}`,
    '  labels:',
    ...Object.entries(labels).map(([key, value]) => `    ${key}: ${value}`),
    'spec:',
    '  nets:',
    ...nets.slice(0, SHOWN).map((net) => `  - ${net}`),
    ...(rest > 0 ? [`  # and ${rest} more`] : []),
  ];
}

/**
 * A Calico policy that lets the pods behind a set in, and nobody else.
 *
 * @param to the app that they may talk to, by its namespace and its label `app`
 */
export function policyYaml({ labels }: NetworkSet, to: { readonly namespace: string; readonly app: string }): string[] {
  const terms = Object.entries(labels).filter(([key]) => key.includes('/'));
  const selector = terms.map(([key, value], index) => `${index === 0 ? '' : '&& '}${key} == '${value}'`);
  return [
    'apiVersion: projectcalico.org/v3',
    'kind: NetworkPolicy',
    `metadata: { name: let-remote-pods-in, namespace: ${to.namespace} }`,
    'spec:',
    `  selector: app == '${to.app}'`,
    '  ingress:',
    '  - action: Allow',
    '    source:',
    '      namespaceSelector: global()',
    '      selector: >-',
    ...selector.map((line) => `        ${line}`),
  ];
}
