// Before every case of this folder.
/** Makes garbage in cycles, enough for the engine to look for them more than once. */
function churn() {
    for (let i = 0; i < 60_000; i++) {
        const first = { i };
        first.other = { first };
    }
}
/** The name of what a function throws; `none` if it throws nothing. */
function thrown(action) {
    try {
        action();
        return 'none';
    } catch (error) {
        return error?.constructor?.name ?? String(error);
    }
}
