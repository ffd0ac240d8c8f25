/* Colour and dash of lines: in one chart no two lines share both. */

const COLOURS = 7;  // --series-0 and so on, in style.css
const DASHES = ["", "7 4", "2 4", "9 4 2 4", "14 4", "9 3 2 3 2 3"];

/* A look for each of some methods, given as {look}: its own colour where that is still free, else one that is. A method has
   the colour of the figures in print where it can. */
export function looksOf(methods) {
  const taken = new Set();
  return methods.map(({look}) => {
    let place = look % COLOURS;
    for (let tries = 0; taken.has(place) && tries < COLOURS; tries++) place = (place + 1) % COLOURS;
    while (taken.has(place)) place += COLOURS;
    taken.add(place);
    return lookAt(place);
  });
}

/* The look at a place in the order of all of them: first the colours, then the same with other dashes. */
export function lookAt(place) {
  const round = Math.floor(place / COLOURS), more = round - DASHES.length;
  return {colour: `var(--series-${place % COLOURS})`, dash: DASHES[round] ?? `${16 + 2 * more} 3 ${2 + more} 3`};
}
