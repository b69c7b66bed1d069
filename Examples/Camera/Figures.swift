// Shows the figures of ``Camera`` and its viewer, once a second.
import Network

/// Prints a line at once, to a pipe as well.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Prints a line a second: datagrams, megabits, what was lost, and processor time per datagram.
struct Figures {
    private var began = ContinuousClock.now
    private var processorTime = clock()
    private var count = 0
    private var missing = 0

    mutating func add(_ datagrams: Int, lost: Int = 0, _ verb: String) {
        // The time before the first datagram does not count.
        if count == 0 { self = Figures() }
        (count, missing) = (count + datagrams, missing + lost)
        let elapsed = (ContinuousClock.now - began) / .seconds(1)
        guard elapsed >= 1, count > 0 else { return }
        // A tick of this clock is a microsecond.
        let cost = Double(clock() - processorTime) / Double(count)
        let megabits = Double(count * Frame.byteCount * 8) / elapsed / 1e6
        let rounded = (cost * 10).rounded() / 10
        say("\(count) datagrams \(verb), \(Int(megabits)) Mb/s, \(missing) lost, \(rounded) us of processor each")
        self = Figures()
    }
}
