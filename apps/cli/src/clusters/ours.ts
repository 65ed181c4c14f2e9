import { type ClusterRoleBinding, clusterRoleBindingKind } from '@kube-semaphore/kube-objects';
import { quoted } from '@kube-semaphore/text';
import deployed from '../check/facts/rights.json' with { type: 'json' };
import { some } from '../output/some.ts';
import type { Context } from './contexts.ts';
import { listObjects, type Read, type Run } from './objects.ts';

/** A Pod or a workload that says by a label of which app it is. Anyone can say so. */
export type Claimant = {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly serviceAccountName?: string | undefined };
};

export type Sorted<T> = {
  readonly ours: readonly T[];
  /** Why the others aren't among them, as a sentence; undefined: there are no others. */
  readonly skipped: string | undefined;
};

/** Where deploy/ has the apps: only administrators may run Pods there. */
const homes: ReadonlySet<string> = new Set(Object.values(deployed).map(({ account }) => account.namespace));

/** On the binding of an app's account, which an overlay may rename and move. Its value is the app. */
const ACCOUNT_LABEL = 'semaphore.uw.io/account';

/** The account of a Pod. */
export const accountOf = ({ serviceAccountName }: Claimant['spec']): string => serviceAccountName || 'default';

/**
 * Tells those that really are of the apps from the others. Tenants choose labels, owners, names and images of their Pods.
 * They can't run Pods in the namespaces of deploy/, and can't write ClusterRoleBindings: an account elsewhere is ours if one
 * gives it the role of the app (as the manifests of the Go programs do), or has our label.
 *
 * @param bindings if they aren't known, only those in the namespaces of deploy/ are ours
 * @param label the key of the label that names the app
 */
export function sortOut<T extends Claimant>(
  found: readonly T[],
  bindings: Read<readonly ClusterRoleBinding[]>,
  label = 'app',
): Sorted<T> {
  const accounts = new Set(bindings.known ? bindings.value.flatMap(accountsIn) : []);
  const { ours = [], others = [] } = Object.groupBy(found, ({ metadata: { namespace, labels }, spec }) =>
    homes.has(namespace) || accounts.has(keyOf(labels[label], namespace, accountOf(spec))) ? 'ours' : 'others',
  );
  if (others.length === 0) return { ours, skipped: undefined };
  const names = some(others.map(({ metadata: { namespace, name } }) => quoted(`${namespace}/${name}`)).toSorted());
  const skipped = bindings.known
    ? `these Pods have the label of an app, but are not ours: ${names}. They are skipped.`
    : `these Pods have the label of an app, but nothing shows that they are ours: ${names}. They are skipped: ${bindings.why}`;
  return { ours, skipped };
}

/** The app, and the account that a binding says is its account. */
const accountsIn = ({ metadata: { labels }, roleRef, subjects }: ClusterRoleBinding): readonly string[] =>
  [labels[ACCOUNT_LABEL] ?? [], roleRef.kind === 'ClusterRole' ? roleRef.name : []]
    .flat()
    .flatMap((app) =>
      subjects
        .filter(({ kind }) => kind === 'ServiceAccount')
        .map(({ namespace, name }) => keyOf(app, namespace, name)),
    );

const keyOf = (app: string | undefined, namespace: string, account: string): string => `${app} ${namespace}/${account}`;

/** What shows that they are ours; nothing is read if their namespaces do. */
export const readBindings = (
  context: Context,
  found: readonly Claimant[],
  run: Run,
): Promise<Read<readonly ClusterRoleBinding[]>> =>
  found.every(({ metadata }) => homes.has(metadata.namespace))
    ? Promise.resolve({ known: true, value: [] })
    : listObjects(context, clusterRoleBindingKind, {}, run);

/** As `sortOut`, with what the cluster says. */
export const onlyOurs = async <T extends Claimant>(
  context: Context,
  found: readonly T[],
  run: Run,
): Promise<Sorted<T>> => sortOut(found, await readBindings(context, found, run));
