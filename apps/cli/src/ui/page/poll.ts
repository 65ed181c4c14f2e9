import { useEffect, useState } from 'preact/hooks';
import type { View } from '../view.ts';

const POLL_MS = 3_000;

/** The newest view, and why there is no newer one. */
export type Polled = { readonly view: View | undefined; readonly failure: string | undefined };

/** Asks for the view again and again, as long as the page is visible. @param query the parameters of `mesh.json` */
export function useView(query: string): Polled {
  const [polled, setPolled] = useState<Polled>({ view: undefined, failure: undefined });
  useEffect(() => {
    const left = new AbortController();
    const { signal } = left;
    const poll = async (): Promise<void> => {
      const answer = document.hidden ? undefined : await getJson<View>(`mesh.json?${query}`, { signal });
      if (signal.aborted) return;
      if (answer !== undefined)
        setPolled((before) =>
          'error' in answer ? { ...before, failure: answer.error } : { view: answer, failure: undefined },
        );
      timer = setTimeout(again, POLL_MS);
    };
    const again = (): void => void poll();
    let timer = setTimeout(again, 0);
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [query]);
  return polled;
}

/** What a path beside the page answers, or a sentence about the failure. Never rejects. */
export async function getJson<T extends object>(
  path: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<T | { readonly error: string }> {
  try {
    const response = await fetch(path, signal === undefined ? {} : { signal });
    return (await response.json()) as T | { error: string };
  } catch (error) {
    return { error: `semaphore ui does not answer: ${(error as Error).message}` };
  }
}
