import { Dice, faultKinds, type FaultStep, randomSchedule } from '@kube-semaphore/fault-proxy';
import { type Change, type Name, names, type Remote, remotes, type Settings, type Subject } from './subject.ts';

/** Something that happens. It is plain data, so that a script can be printed, replayed and made smaller. */
export type Event =
  | { readonly do: 'change'; readonly change: Change }
  /** A user edits or deletes one of the objects that the app wrote. */
  | { readonly do: 'tamper'; readonly nth: number; readonly how: 'edit' | 'delete' }
  /** Between the app and one cluster. */
  | { readonly do: 'fault'; readonly cluster: Name; readonly step: FaultStep }
  /** SIGKILL; another process takes its place at once. */
  | { readonly do: 'kill'; readonly replica: number }
  /** SIGSTOP, and SIGCONT so much later, which the quiet waits for: another replica leads by then. */
  | { readonly do: 'freeze'; readonly replica: number; readonly ms: number }
  /** The API server is killed, and starts again so much later. */
  | { readonly do: 'down'; readonly cluster: Name; readonly ms: number }
  /** etcd is lost so much later, and restored as it is now. */
  | { readonly do: 'restore'; readonly cluster: Name; readonly ms: number }
  /** The token by which the app knows a cluster is replaced by one that doesn't work, and so much later by a new one. */
  | { readonly do: 'token'; readonly cluster: Name; readonly ms: number }
  /** The API server gets a certificate of another CA, so much before or after the app can know that CA. */
  | { readonly do: 'ca'; readonly cluster: Name; readonly ms: number; readonly known: 'before' | 'after' }
  /** The clock of a replica is wrong by so much, until it is set again. */
  | { readonly do: 'clock'; readonly replica: number; readonly byMs: number }
  /** A replica ends, and begins again, with a heap that is too small, and with its usual one so much later. */
  | { readonly do: 'starve'; readonly replica: number; readonly heapMb: number; readonly ms: number }
  /** Something that only this app needs, where it runs, as its subject says. */
  | { readonly do: 'break'; readonly what: string; readonly ms: number }
  /** The config file has these remotes. */
  | { readonly do: 'remotes'; readonly remotes: readonly Remote[] }
  /** The config file says this; if a replica must start for that, all do. */
  | { readonly do: 'settings'; readonly settings: Settings };

/** An event, and the pause after it. */
export type Step = Event & { readonly thenMs: number };

/** Steps, then quiet. */
export type Round = readonly Step[];

const STEPS = 30;

/** Without empty lists, which only the deletion guard distinguishes from true ones. */
const kinds = faultKinds.filter((kind) => kind !== 'empty');

/** Each as often as it is here; two thirds of all steps are changes. */
const EVENTS = [
  ...(['tamper', 'tamper', 'fault', 'fault', 'fault', 'fault', 'fault', 'fault'] as const),
  ...(['kill', 'kill', 'freeze', 'freeze', 'down', 'down', 'restore', 'token', 'remotes', 'remotes'] as const),
  ...(['ca', 'clock', 'starve'] as const),
];

/** As often as with one remote alone, the file has all; and with all but one. */
const WHOLE_FILES = remotes.flatMap((one) => [
  remotes,
  ...(remotes.length > 2 ? [remotes.filter((each) => each !== one)] : []),
]);

/** Endless rounds, the same for the same seed. */
export function* script(
  subject: Pick<Subject, 'change' | 'breaks' | 'settings' | 'pausesMs' | 'clocksMs'>,
  seed: number,
): Generator<Round, never> {
  const dice = new Dice(seed);
  const faults = randomSchedule(dice.integer(0, 2 ** 31), { kinds, longestMs: 5_000 });
  const events = [
    ...EVENTS,
    ...subject.breaks.map(() => 'break' as const),
    ...subject.settings.slice(1, 4).map(() => 'settings' as const),
  ];
  const eventOf = (kind: (typeof events)[number] | 'change'): Event => {
    switch (kind) {
      case 'change':
        return { do: 'change', change: subject.change(dice) };
      case 'tamper':
        return { do: 'tamper', nth: dice.integer(0, 1_000), how: dice.pick(['edit', 'delete']) };
      case 'fault':
        return { do: 'fault', cluster: dice.pick(names), step: faults.next().value };
      case 'kill':
        return { do: 'kill', replica: dice.integer(0, 1) };
      case 'freeze': {
        const short = dice.integer(100, 3_000);
        return { do: 'freeze', replica: dice.integer(0, 1), ms: dice.pick([short, short, 20_000, 60_000]) };
      }
      case 'down':
        return { do: 'down', cluster: dice.pick(names), ms: dice.integer(0, 5_000) };
      case 'restore':
        return { do: 'restore', cluster: dice.pick(names), ms: dice.integer(500, 5_000) };
      case 'token':
        return { do: 'token', cluster: dice.pick(names), ms: dice.integer(500, 5_000) };
      case 'ca': {
        const known = dice.pick(['before', 'after']);
        return { do: 'ca', cluster: dice.pick(names), ms: dice.integer(0, 5_000), known };
      }
      case 'clock':
        return { do: 'clock', replica: dice.integer(0, 1), byMs: dice.pick(subject.clocksMs) };
      case 'starve':
        return { do: 'starve', replica: dice.integer(0, 1), heapMb: dice.integer(9, 18), ms: dice.integer(500, 5_000) };
      case 'break':
        return { do: 'break', what: dice.pick(subject.breaks), ms: dice.integer(500, 5_000) };
      case 'remotes':
        return { do: 'remotes', remotes: dice.pick([...remotes.map((each) => [each]), ...WHOLE_FILES]) };
      case 'settings':
        return { do: 'settings', settings: dice.pick(subject.settings) };
    }
  };
  for (;;)
    yield Array.from({ length: STEPS }, () => ({
      ...eventOf(dice.integer(1, 3) > 1 ? 'change' : dice.pick(events)),
      thenMs: dice.pick(subject.pausesMs),
    }));
}

/** What a record counts a step as. */
export function kindOf(step: Event, { tampers }: Pick<Subject, 'tampers'>): string {
  switch (step.do) {
    case 'fault': {
      const { fault } = step.step;
      if ('status' in fault) return `fault: answer ${fault.status}`;
      const of = 'direction' in fault ? fault.direction : 'of' in fault ? fault.of : undefined;
      return `fault: ${fault.kind}${of === undefined ? '' : ` of ${of}`}`;
    }
    case 'down':
      return 'API server killed';
    case 'restore':
      return `etcd of ${step.cluster === 'c1' ? 'the local cluster' : 'a remote'} restored`;
    case 'kill':
      return 'replica killed';
    case 'freeze':
      return 'replica stopped';
    case 'token':
      return 'token revoked, and replaced';
    case 'ca':
      return `CA replaced, known ${step.known}`;
    case 'clock':
      return 'clock set';
    case 'starve':
      return 'memory of a replica too small';
    case 'break':
      return step.what;
    case 'remotes':
      return 'remotes of the file';
    case 'settings':
      return 'settings of the file';
    case 'tamper':
      return tampers ?? `${step.how} of our object`;
    case 'change':
      return `${step.change.collection.split('/').at(-1)} ${step.change.object === null ? 'removed' : 'set'}`;
  }
}
