// Shows the statistics of ``Camera`` and its viewer, once a second.
import Causeway
import Foundation

/// Prints a line without buffering, also to a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Prints a line per second: datagrams, megabits, losses, and processor time per datagram.
struct Figures {
    private var began = ContinuousClock.now
    private var processorTime = clock()
    private var count = 0
    private var missing = 0

    mutating func add(_ datagrams: Int, lost: Int = 0, _ verb: String) {
        // The measurement starts with the first datagram.
        if count == 0 { self = Figures() }
        (count, missing) = (count + datagrams, missing + lost)
        let elapsed = (ContinuousClock.now - began) / .seconds(1)
        guard elapsed >= 1, count > 0 else { return }
        // A tick of this clock is one microsecond.
        let cost = Double(clock() - processorTime) / Double(count)
        let megabits = Double(count * Frame.byteCount * 8) / elapsed / 1e6
        let rounded = (cost * 10).rounded() / 10
        say("\(count) datagrams \(verb), \(Int(megabits)) Mb/s, \(missing) lost, \(rounded) us of processor each")
        self = Figures()
    }
}
