import type { Narrator } from '../narrator.ts';
import type { Mirror } from '../stage/mirror-watch.ts';
import type { Observation } from '../stage/observe.ts';
import { serviceYaml, sliceLines } from '../text/mirror-manifests.ts';

/** A Service that a change has brought to c1. */
export type Arrival = {
  readonly name: string;
  /** What was waited for. */
  readonly outcome: string;
  readonly seen: Observation<Mirror>;
};

/** Tells when it came and when it was complete, and shows it. */
export function tellOfArrival(tell: Narrator, { name, outcome, seen: { rightMs, versions } }: Arrival): void {
  const [first, last] = [versions[0], versions.at(-1)?.value];
  if (!first || !last?.service) throw new Error(`${name} is right, and yet it is missing`);
  tell.milestone(`c1 has a Service ${name}`, first.ms);
  tell.milestone(outcome, rightMs);
  tell.show(serviceYaml(last.service));
  tell.show(sliceLines(last));
}
