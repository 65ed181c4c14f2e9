import { mirrorServiceName } from '../../src/names.ts';
import type { Change, Labels, Parameters, Version } from './refusals.ts';

/** A named change. */
export type Case = Change & { readonly name: string };

/** Cases with the same parameters. */
export type Group<C extends Case = Case> = {
  readonly name: string;
  readonly parameters: Parameters;
  readonly cases: readonly C[];
};

/** A case with the prefixes of illegal names; `gl` is that of a global Service. */
type Known = Case & { readonly wrong: readonly string[] };

type Row = Version & {
  readonly name: string;
  readonly before?: Version | undefined;
  /** A prefix, and how long the name of the mirror is with it; 64 with `europe` by default. */
  readonly spelled?: readonly [prefix: string, length: number];
  readonly namespace?: string;
  readonly wrong: readonly string[];
};

/** The selectors in most groups. */
export const mirror = { 'mirror.semaphore.uw.io/mirror-service': 'true' };
export const global = { 'mirror.semaphore.uw.io/global-service': 'true' };
const team = { team: 'a' };
const manager = 'endpointslice.kubernetes.io/managed-by';

/** Selected by all parameters here. */
export const everyLabel: Labels = { ...mirror, ...global, ...team };

const forty = Array.from({ length: 40 }, (_, i) => `cluster-number-${i + 10}-${'x'.repeat(20)}`);

/** Every rule and its limits, with the result. */
export const table: readonly Group<Known>[] = [
  group('one prefix', { prefixes: ['europe'], matchLabels: mirror, globalMatchLabels: global }, [
    { name: 'a mirror of 63 characters', spelled: ['europe', 63], labels: mirror, wrong: [] },
    { name: 'a mirror of 64', spelled: ['europe', 64], labels: mirror, wrong: ['europe'] },
    { name: 'a mirror of 82', spelled: ['europe', 82], labels: mirror, wrong: ['europe'] },
    { name: 'a global Service of 63', spelled: ['gl', 63], labels: global, wrong: [] },
    { name: 'a global Service of 64', spelled: ['gl', 64], labels: global, wrong: ['gl'] },
    {
      name: 'both, and only the mirror is too long',
      spelled: ['gl', 63],
      labels: { ...mirror, ...global },
      wrong: ['europe'],
    },
    {
      name: 'both, and both are too long',
      spelled: ['gl', 64],
      labels: { ...mirror, ...global },
      wrong: ['europe', 'gl'],
    },
    {
      name: 'a namespace that leaves no room',
      namespace: 'n'.repeat(63),
      spelled: ['europe', 81],
      labels: mirror,
      wrong: ['europe'],
    },
    { name: 'no labels', spelled: ['gl', 78], wrong: [] },
    { name: 'other labels', spelled: ['gl', 78], labels: team, wrong: [] },
    {
      name: 'another value',
      spelled: ['gl', 78],
      labels: { 'mirror.semaphore.uw.io/mirror-service': 'false' },
      wrong: [],
    },
    { name: 'a name for another host', isExternal: true, labels: mirror, wrong: [] },
    { name: 'a mirror itself', labels: { ...mirror, 'mirrored-svc': 'true' }, wrong: [] },
    { name: 'a global Service itself', labels: { ...mirror, 'global-svc': 'true' }, wrong: [] },
    { name: 'a label of our slices', labels: { ...mirror, 'mirrored-endpoint-slice': 'true' }, wrong: [] },
    { name: 'another label of our slices', labels: { ...mirror, [manager]: 'semaphore-service-mirror' }, wrong: [] },
    {
      name: 'what only looks like a mirror',
      labels: { ...mirror, 'mirrored-svc': 'false', [manager]: 'somebody' },
      wrong: ['europe'],
    },
    { name: 'the label comes', before: {}, labels: mirror, wrong: ['europe'] },
    { name: 'the label comes to a short name', before: {}, spelled: ['europe', 63], labels: mirror, wrong: [] },
    {
      name: 'its value comes',
      before: { labels: { 'mirror.semaphore.uw.io/mirror-service': 'false' } },
      labels: mirror,
      wrong: ['europe'],
    },
    { name: 'the global label comes', before: {}, spelled: ['gl', 64], labels: global, wrong: ['gl'] },
    {
      name: 'the global label comes to a mirror',
      before: { labels: mirror },
      spelled: ['gl', 64],
      labels: { ...mirror, ...global },
      wrong: ['gl'],
    },
    {
      name: 'the label comes to a global Service',
      before: { labels: global },
      spelled: ['gl', 64],
      labels: { ...mirror, ...global },
      wrong: ['europe'],
    },
    {
      name: 'a mark of ours goes',
      before: { labels: { ...mirror, 'mirrored-svc': 'true' } },
      labels: mirror,
      wrong: ['europe'],
    },
    {
      name: 'it is no name for another host any more',
      before: { isExternal: true, labels: mirror },
      labels: mirror,
      wrong: ['europe'],
    },
    {
      name: 'the labels were there, and another comes',
      before: { labels: { ...mirror, ...global } },
      spelled: ['gl', 64],
      labels: { ...mirror, ...global, ...team },
      wrong: [],
    },
    { name: 'the label goes', before: { labels: mirror }, wrong: [] },
    { name: 'another label comes', before: {}, labels: team, wrong: [] },
  ]),
  group(
    'several prefixes and labels, no global Services',
    { prefixes: ['c2', 'europe', 'us'], matchLabels: { ...mirror, ...team } },
    [
      { name: 'too long with one prefix', labels: { ...mirror, ...team }, wrong: ['europe'] },
      {
        name: 'too long with each',
        spelled: ['c2', 64],
        labels: { ...mirror, ...team },
        wrong: ['c2', 'europe', 'us'],
      },
      { name: 'one label of two', spelled: ['c2', 64], labels: mirror, wrong: [] },
      { name: 'the second label comes', before: { labels: mirror }, labels: { ...mirror, ...team }, wrong: ['europe'] },
      { name: 'a label of global Services', spelled: ['c2', 64], labels: global, wrong: [] },
    ],
  ),
  group('every Service', { prefixes: ['europe'], globalMatchLabels: {} }, [
    { name: 'of 63 characters', spelled: ['europe', 63], wrong: [] },
    { name: 'of 64', wrong: ['europe'] },
    { name: 'of 64 as a global one', spelled: ['gl', 64], labels: team, wrong: ['europe', 'gl'] },
    { name: 'but mirrors', spelled: ['gl', 64], labels: { 'mirrored-svc': 'true' }, wrong: [] },
    { name: 'whatever label comes', before: {}, spelled: ['gl', 64], labels: team, wrong: [] },
  ]),
  group('global Services only', { prefixes: [], globalMatchLabels: global }, [
    { name: 'of 64 characters', spelled: ['gl', 64], labels: global, wrong: ['gl'] },
    { name: 'of 63', spelled: ['gl', 63], labels: global, wrong: [] },
    { name: 'without the label', spelled: ['gl', 64], wrong: [] },
  ]),
  group('prefixes that no name can begin with', { prefixes: ['2c', 'C2', '-', 'c_2', 'europe'], matchLabels: mirror }, [
    { name: 'a short name', spelled: ['europe', 63], labels: mirror, wrong: ['2c', 'C2', '-', 'c_2'] },
    { name: 'a long name', spelled: ['2c', 64], labels: mirror, wrong: ['2c', 'C2', '-', 'c_2', 'europe'] },
  ]),
  group('more to say than fits', { prefixes: forty, matchLabels: mirror }, [
    { name: 'forty names', spelled: ['europe', 63], labels: mirror, wrong: forty },
  ]),
];

function group(name: string, parameters: Parameters, rows: readonly Row[]): Group<Known> {
  const cases = rows.map(
    ({ name: title, before, spelled = ['europe', 64], namespace = 'shop', wrong, labels, isExternal }, i): Known => {
      const room = spelled[1] - mirrorServiceName(spelled[0], namespace, '').length;
      // Names are unique, so that all can exist at once.
      return {
        name: title,
        namespace,
        service: `s${i}`.padEnd(room, 'x'),
        after: { labels, isExternal },
        before,
        wrong,
      };
    },
  );
  return { name, parameters, cases };
}
