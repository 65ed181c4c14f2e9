import { globalServiceName, mirrorServiceName, serviceNameProblem } from '../../src/names.ts';
import { matchesLabels, parseLabelSelector } from '../../src/config/label-selector.ts';
import { isOwnProduct } from '../../src/endpoints/desired/own-product.ts';

export type Labels = Readonly<Record<string, string>>;

/** The parameters of a `MirrorNameLength` and of Gatekeeper's constraint. */
export type Parameters = {
  readonly prefixes: readonly string[];
  readonly matchLabels?: Labels;
  readonly globalMatchLabels?: Labels;
};

/** The part of a Service that the policies check. */
export type Version = { readonly labels?: Labels | undefined; readonly isExternal?: boolean | undefined };

/** A Service that is created, or changed from what it was before. */
export type Change = {
  readonly namespace: string;
  readonly service: string;
  readonly before?: Version | undefined;
  readonly after: Version;
};

/** The messages that both policies must give for a change, in order; empty if they must allow it. */
export function refusals(
  { prefixes, matchLabels = {}, globalMatchLabels }: Parameters,
  { namespace, service, before, after }: Change,
): readonly string[] {
  const isNew = (labels: Labels) => isChosen(after, labels) && !(before !== undefined && isChosen(before, labels));
  const mirrors = isNew(matchLabels)
    ? prefixes.map((prefix) => ['its mirror', mirrorServiceName(prefix, namespace, service)] as const)
    : [];
  const globals =
    globalMatchLabels !== undefined && isNew(globalMatchLabels)
      ? [['its global Service', globalServiceName(namespace, service)] as const]
      : [];
  return [...mirrors, ...globals].flatMap(([what, name]) => {
    const problem = problemOf(name);
    return problem === undefined ? [] : [`${what} would be called ${name}, which is ${problem}`];
  });
}

/** Whether the service mirror would read a Service, by a selector for these labels. */
function isChosen({ labels = {}, isExternal = false }: Version, wanted: Labels): boolean {
  const selector = parseLabelSelector(
    Object.entries(wanted)
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
  );
  if (!selector.ok) throw new Error(selector.reason);
  return !isExternal && !isOwnProduct(labels) && matchesLabels(selector.value, labels);
}

function problemOf(name: string): string | undefined {
  const problem = serviceNameProblem(name);
  switch (problem?.reason) {
    case undefined:
      return undefined;
    case 'name-too-long':
      return `too long by ${problem.excess}: a Service name has at most 63 characters`;
    case 'name-illegal':
      return 'not a valid Service name: it must be a letter, then lower case letters, digits and hyphens';
  }
}
