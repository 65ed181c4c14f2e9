import { DecodeError } from './errors.ts';

/** Felix takes at most 1,048,576 addresses; a server that lists more is broken or hostile. */
const MAX_OBJECTS = 1_000_000;

/** Pages with less than half of what was requested, in one list: API servers fill each page except the last. */
const MAX_THIN_PAGES = 200;

/** Ends a list without end. Pages follow each other without a pause, so a server that invents tokens would be asked for ever. */
export class PageGuard {
  #thinPages = 0;

  /** @param total of the objects so far. @throws DecodeError if the list has too many */
  checkTotal(total: number): void {
    if (total > MAX_OBJECTS) throw new DecodeError(`the server lists more than ${MAX_OBJECTS} objects`);
  }

  /**
   * @param page how many new objects the page has, and how many were requested
   * @throws DecodeError if the list seems endless
   */
  endPage({ count, limit }: { readonly count: number; readonly limit: number }): void {
    if (count < limit / 2) this.#thinPages += 1;
    if (this.#thinPages > MAX_THIN_PAGES) throw new DecodeError('the server sends pages of a list without end');
  }
}
