import type { CalicoPolicy } from '@kube-semaphore/kube-objects';
import { parseCalicoSelector } from './calico-selector.ts';
import type { StringMap } from './string-map.ts';

/** A rule of a Calico policy that selects sets of ours, though nothing in it is about them. */
export type AccidentalRule = {
  /** `GlobalNetworkPolicy name` or `Calico NetworkPolicy namespace/name`. */
  readonly subject: string;
  readonly detail: string;
};

type Entity = CalicoPolicy['spec']['ingress'][number]['source'];

/**
 * Finds rules that select remote Pods by accident. A set has no namespace and none of the labels of Pods, so `!has(app)` or
 * `app != 'x'` select it, as does `all()` in a GlobalNetworkPolicy. A rule that names a label of the set, or `global()`, means it.
 * What a rule selects: GetEntityRuleSelector in libcalico-go/lib/backend/syncersv1/updateprocessors/rules.go.
 *
 * @param sets labels of each set of ours
 */
export function accidentalRules(
  policies: readonly CalicoPolicy[],
  sets: readonly StringMap[],
): readonly AccidentalRule[] {
  return policies.flatMap(({ metadata: { namespace, name }, spec }) => {
    const isGlobal = namespace === '';
    const subject = isGlobal ? `GlobalNetworkPolicy ${name}` : `Calico NetworkPolicy ${namespace}/${name}`;
    return (['ingress', 'egress'] as const).flatMap((direction) =>
      spec[direction].flatMap(({ action, source, destination }, i) =>
        Object.entries({ source, destination }).flatMap(([end, entity]) => {
          const count = sets.filter((labels) => isHit(entity, isGlobal, labels)).length;
          const where = `${direction} rule ${i + 1} (${action}): its ${end}`;
          const what = `${where} also selects ${count} of our sets: name a label of Pods that has to be there`;
          return count === 0 ? [] : [{ subject, detail: what }];
        }),
      ),
    );
  });
}

function isHit(
  { selector, namespaceSelector, serviceAccounts }: Entity,
  isGlobal: boolean,
  labels: StringMap,
): boolean {
  const isOfNoPod = serviceAccounts.names.length === 0 && serviceAccounts.selector === '';
  // Without a selector, a rule is about addresses, or about everybody.
  if (!isOfNoPod || (selector === '' && namespaceSelector === '')) return false;
  // Without a namespaceSelector, a rule of a NetworkPolicy is about its namespace.
  if (namespaceSelector === '' && !isGlobal) return false;
  const [ofNamespace, own] = [parse(namespaceSelector, false), parse(selector, true)];
  if (ofNamespace === undefined || own === undefined || /\bglobal\s*\(/.test(namespaceSelector)) return false;
  const isMeant = [...own.keys].some((key) => Object.hasOwn(labels, key));
  return !isMeant && ofNamespace.matches({}) && own.matches(labels);
}

/** An absent selector matches; one that isn't valid is undefined, as Calico refuses it. */
const parse = (selector: string, all: boolean) =>
  selector === '' ? EVERYTHING : parseCalicoSelector(selector, { all, global: true });

const EVERYTHING = { matches: () => true, keys: new Set<string>() };
