import * as z from 'zod/mini';
import type { Context } from '../../clusters/contexts.ts';
import { type Read, readAs, type Run } from '../../clusters/objects.ts';
import type { App, AppPod } from '../../clusters/report.ts';
import deployed from './rights.json' with { type: 'json' };

type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

type Grant = {
  readonly namespace?: string;
  readonly rules: readonly Rule[];
  /** The field of the app's config that needs it. Undefined: each app does. */
  readonly with?: string;
};

/** Of each app, by deploy/; `npm run reference` writes them. */
const rights: Readonly<
  Record<App, { readonly account: { readonly namespace: string }; readonly grants: readonly Grant[] }>
> = deployed;

/** A verb on a resource, as a SubjectAccessReview has it. */
export type Attributes = {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
  readonly namespace?: string;
};

/** A service account, and what the app that uses it needs. */
type Need = { readonly account: string; readonly attributes: Attributes };

const review = z.object({ status: z.object({ allowed: z.boolean() }) });

/** A cluster has up to 80 rights to ask for. */
const CONCURRENCY = 16;

/** What the accounts of the apps may not do, but need: a sentence for each resource. */
export async function readRights(
  context: Context,
  pods: readonly AppPod[],
  run: Run,
): Promise<Read<readonly string[]>> {
  const lacking: Need[] = [];
  const failures: Extract<Read<unknown>, { known: false }>[] = [];
  const left = needsOf(pods).values();
  const worker = async (): Promise<void> => {
    for (const need of left) {
      const allowed = await isAllowed(context, need, run);
      if (!allowed.known) return void failures.push(allowed);
      if (!allowed.value) lacking.push(need);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  if (failures[0] !== undefined) return failures[0];
  const byResource = Map.groupBy(lacking, ({ account, attributes: { group, resource, namespace } }) =>
    [account, group, resource, namespace].join(' '),
  );
  return { known: true, value: [...byResource.values()].map(sentenceOf).toSorted() };
}

/** Whether an account, or our own user, has a right. */
export async function isAllowed(
  context: Context,
  { account, attributes }: Pick<Need, 'attributes'> & Partial<Need>,
  run: Run,
): Promise<Read<boolean>> {
  const kind = account === undefined ? 'SelfSubjectAccessReview' : 'SubjectAccessReview';
  const answer = await readAs(context, `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`, review, run, {
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind,
      spec: {
        ...(account !== undefined && { user: account, groups: groupsOf(account) }),
        resourceAttributes: attributes,
      },
    },
  });
  if (!answer.known) return answer;
  return answer.value === undefined
    ? { known: false, why: `${context.name} has no ${kind}s` }
    : { known: true, value: answer.value.status.allowed };
}

/** What each account of these Pods needs in its own cluster, by deploy/ and what the Pods say of their config. */
function needsOf(pods: readonly AppPod[]): readonly Need[] {
  const accounts = Map.groupBy(pods, ({ app, namespace, account }) => `${app} ${namespace} ${account}`);
  return [...accounts.values()].flatMap((replicas) => {
    const { app, namespace, account } = replicas[0]!;
    const configs = replicas.flatMap(({ status }) => ('failure' in status ? [] : [Object.entries(status.config)]));
    const isSet = (field: string): boolean =>
      configs.some((config) => config.some(([key, value]) => key === field && Boolean(value)));
    const { account: usual, grants } = rights[app];
    return grants.flatMap((grant) => {
      if (grant.with !== undefined && !isSet(grant.with)) return [];
      // An overlay that moves the account moves the roles beside it.
      const where = grant.namespace === usual.namespace ? namespace : grant.namespace;
      return grant.rules
        .flatMap((rule) => attributesOf(rule, where))
        .map((attributes) => ({
          account: `system:serviceaccount:${namespace}:${account}`,
          attributes,
        }));
    });
  });
}

function attributesOf(
  { apiGroups, resources, verbs, resourceNames = [] }: Rule,
  namespace: string | undefined,
): readonly Attributes[] {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name) => ({
          verb,
          group,
          resource,
          ...(name !== undefined && { name }),
          ...(namespace !== undefined && { namespace }),
        })),
      ),
    ),
  );
}

const groupsOf = (account: string): readonly string[] => [
  'system:authenticated',
  'system:serviceaccounts',
  `system:serviceaccounts:${account.split(':')[2]}`,
];

function sentenceOf(needs: readonly Need[]): string {
  const { account, attributes } = needs[0]!;
  const { group, resource, namespace } = attributes;
  const verbs = [...new Set(needs.map(({ attributes: { verb } }) => verb))].toSorted();
  const what = group === '' ? resource : `${resource}.${group}`;
  const who = account.replace('system:serviceaccount:', '').replace(':', '/');
  return `${who} may not ${verbs.join(', ')} ${what}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
