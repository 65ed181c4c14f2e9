import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { Parsed } from '@kube-semaphore/net';
import { clusterOrderAnnotation, minReadyAnnotation } from '../../../names.ts';
import {
  type ClusterOrder,
  type MinReady,
  minReadyText,
  orderText,
  parseClusterOrder,
  parseMinReady,
} from './order.ts';

type StringMap = Readonly<Record<string, string>>;

/** Which clusters are to answer, as the annotations of a Service say. */
export type RoutingWish = {
  readonly order: ClusterOrder | undefined;
  readonly minReady: MinReady | undefined;
};

/** What is used of an object's annotations (undefined for nothing), and what is skipped. */
type WishReading = { readonly wish: RoutingWish | undefined; readonly skipped: readonly Diagnostic[] };

const NOTHING: WishReading = { wish: undefined, skipped: [] };

/** Reads the annotations of a Service. One that is not valid is skipped, as if it were absent. */
export function readWish(annotations: StringMap): WishReading {
  const [order, minReady] = [annotations[clusterOrderAnnotation], annotations[minReadyAnnotation]];
  // So for most Services.
  if (order === undefined && minReady === undefined) return NOTHING;
  const skipped: Diagnostic[] = [];
  const wish = {
    order: valueOf(clusterOrderAnnotation, order, { parse: parseClusterOrder, skipped }),
    minReady: valueOf(minReadyAnnotation, minReady, { parse: parseMinReady, skipped }),
  };
  return { wish: wish.order === undefined && wish.minReady === undefined ? undefined : wish, skipped };
}

/** The annotations that `readWish` reads as this wish. */
export const wishAnnotations = ({ order, minReady }: RoutingWish): StringMap => ({
  ...(order && { [clusterOrderAnnotation]: orderText(order) }),
  ...(minReady && { [minReadyAnnotation]: minReadyText(minReady) }),
});

function valueOf<T>(
  annotation: string,
  text: string | undefined,
  { parse, skipped }: { readonly parse: (text: string) => Parsed<T>; readonly skipped: Diagnostic[] },
): T | undefined {
  const parsed = text === undefined ? undefined : parse(text);
  if (parsed?.ok !== false) return parsed?.value;
  skipped.push({ kind: 'problem', reason: 'bad-annotation', detail: `its annotation ${annotation}: ${parsed.reason}` });
  return undefined;
}
