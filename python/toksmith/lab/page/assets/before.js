// What is known from the text before the last change: a pretoken whose characters did not change has the same ids.

export class Before {
  /** `pieces` are those of `oldText`, in order. */
  constructor(pieces, oldText, newText) {
    const most = Math.min(oldText.length, newText.length);
    let [same, sameBehind] = [0, 0];
    while (same < most && oldText.charCodeAt(same) === newText.charCodeAt(same)) same++;
    const isSame = (behind) =>
      oldText.charCodeAt(oldText.length - behind) === newText.charCodeAt(newText.length - behind);
    while (sameBehind < most - same && isSame(sameBehind + 1)) sameBehind++;
    this.pieces = pieces;
    this.changeStart = same;
    this.changeEnd = newText.length - sameBehind;
    /** How much further behind a place is than it was, if it is behind the change. */
    this.shift = newText.length - oldText.length;
    this.next = 0;
  }

  /** Returns the ids of a pretoken of the new text; undefined if they are not known. To be asked for in order. */
  idsOf(start, end) {
    if (end > this.changeStart && start < this.changeEnd) return undefined;
    const shift = end <= this.changeStart ? 0 : this.shift;
    const { pieces } = this;
    while (this.next < pieces.length && pieces[this.next].start < start - shift) this.next++;
    const old = pieces[this.next];
    const isEqual = old !== undefined && old.start === start - shift && old.end === end - shift;
    return isEqual && !old.isAdded ? old.ids : undefined;
  }
}
