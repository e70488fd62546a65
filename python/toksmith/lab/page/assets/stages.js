// Cuts text into pretokens, in stages: each cuts the pieces of the one before. Most tokenizers have one.

/**
 * Returns the pretokens of `text` from `start` to `end`: a flat list of where each one starts and ends.
 * A stage has an automaton, a behavior (what becomes of its matches, in the words of Hugging Face), and `invert`:
 * whether matches and the rest change roles.
 */
export function cutInStages(stages, text, start, end) {
  let pieces = start < end ? [start, end] : [];
  for (const stage of stages) {
    const next = [];
    for (let i = 0; i < pieces.length; i += 2) cutPiece(stage, text, pieces[i], pieces[i + 1], next);
    pieces = next;
  }
  return pieces;
}

function cutPiece(stage, text, start, end, pieces) {
  switch (stage.behavior) {
    case "Isolated":
      findStretches(stage, text, start, end, (first, last) => pieces.push(first, last));
      break;
    case "Removed":
      findStretches(stage, text, start, end, (first, last, isMatch) => !isMatch && pieces.push(first, last));
      break;
    default:
      joinStretches(stage, text, start, end, pieces);
  }
}

/** Calls `onStretch(start, end, isMatch)` for the matches and for what lies between them, in order. */
function findStretches(stage, text, start, end, onStretch) {
  let at = start;
  stage.automaton.findAll(text, start, end, (first, last) => {
    if (first > at) onStretch(at, first, stage.invert);
    onStretch(first, last, !stage.invert);
    at = last;
  });
  if (at < end) onStretch(at, end, stage.invert);
}

function joinStretches(stage, text, start, end, pieces) {
  const stretches = [];
  findStretches(stage, text, start, end, (...stretch) => stretches.push(stretch));
  switch (stage.behavior) {
    case "Contiguous":
      join(stretches, pieces, (isMatch, before) => isMatch === before);
      break;
    case "MergedWithPrevious":
      join(stretches, pieces, (isMatch, before) => isMatch && !before);
      break;
    case "MergedWithNext":
      joinBackwards(stretches, pieces);
      break;
  }
}

/** Adds stretches to the pieces, each as a piece or as the rest of the last one. */
function join(stretches, pieces, joins) {
  let before = false; // the first stretch is compared with one that is no match
  let isFirst = true;
  for (const [start, end, isMatch] of stretches) {
    if (!isFirst && joins(isMatch, before)) pieces[pieces.length - 1] = end;
    else pieces.push(start, end);
    before = isMatch;
    isFirst = false;
  }
}

/** Adds stretches to the pieces; a match is one piece with what stands behind it, if that is no match. */
function joinBackwards(stretches, pieces) {
  const found = [];
  let behind = false;
  for (const [start, end, isMatch] of stretches.reverse()) {
    if (found.length > 0 && isMatch && !behind) found[found.length - 1][0] = start;
    else found.push([start, end]);
    behind = isMatch;
  }
  for (const [start, end] of found.reverse()) pieces.push(start, end);
}
