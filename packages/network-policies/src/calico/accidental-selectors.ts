import type { CalicoPolicy } from '@kube-semaphore/kube-objects';
import { parseCalicoSelector } from './calico-selector.ts';
import type { StringMap } from '../string-map.ts';

/** A rule that selects sets of ours, though nothing in it is about them. */
export type AccidentalRule = { readonly subject: string; readonly detail: string };

/** What the rules of a policy select, as Calico reads them. */
export type SelectingPolicy = {
  /** Kind and name. */
  readonly subject: string;
  readonly isGlobal: boolean;
  readonly rules: readonly {
    /** `ingress rule 1 (Allow): its source`. */
    readonly where: string;
    readonly selector: string;
    readonly namespaceSelector: string;
  }[];
};

/** The rules of a policy of Calico that are about Pods; one about service accounts isn't about sets. */
export function selectingPolicy({ metadata: { namespace, name }, spec }: CalicoPolicy): SelectingPolicy {
  const isGlobal = namespace === '';
  const rules = (['ingress', 'egress'] as const).flatMap((direction) =>
    spec[direction].flatMap(({ action, source, destination }, i) =>
      Object.entries({ source, destination }).flatMap(([end, { selector, namespaceSelector, serviceAccounts }]) =>
        serviceAccounts.names.length === 0 && serviceAccounts.selector === ''
          ? [{ where: `${direction} rule ${i + 1} (${action}): its ${end}`, selector, namespaceSelector }]
          : [],
      ),
    ),
  );
  return {
    subject: isGlobal ? `GlobalNetworkPolicy ${name}` : `Calico NetworkPolicy ${namespace}/${name}`,
    isGlobal,
    rules,
  };
}

/**
 * Finds rules that select remote Pods by accident. A set has no namespace and no label of a Pod, so `!has(app)` or
 * `app != 'x'` select it, as does `all()` in a GlobalNetworkPolicy. A rule that names a label of the set, or `global()`, means it.
 * What a rule selects: GetEntityRuleSelector in libcalico-go/lib/backend/syncersv1/updateprocessors/rules.go.
 *
 * @param sets labels of each set of ours; or examples of sets that we don't have yet
 */
export function accidentalRules(
  policies: readonly SelectingPolicy[],
  sets: readonly StringMap[],
  { areExamples = false } = {},
): readonly AccidentalRule[] {
  return policies.flatMap(({ subject, isGlobal, rules }) =>
    rules.flatMap((rule) => {
      const count = sets.filter((labels) => isHit(rule, isGlobal, labels)).length;
      const selects = areExamples ? 'would also select sets that we write' : `also selects ${count} of our sets`;
      const detail = `${rule.where} ${selects}: name a label that has to be there`;
      return count === 0 ? [] : [{ subject, detail }];
    }),
  );
}

function isHit(
  { selector, namespaceSelector }: SelectingPolicy['rules'][number],
  isGlobal: boolean,
  labels: StringMap,
): boolean {
  // Without a selector, a rule is about addresses, or about everybody.
  if (selector === '' && namespaceSelector === '') return false;
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
