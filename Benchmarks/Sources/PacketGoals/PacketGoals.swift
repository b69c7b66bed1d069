import CausewayCapture
import CausewayPackets
import Glibc

/// Makes one measurement of the packet library per run, for `Scripts/packet-goals`. Prints a name and a number per line.
///
/// Times are processor times, because the machine may run other work.
@main
enum PacketGoals {
    static func main() throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard let command = words.first else { return usage() }
        let rest = Array(words.dropFirst())
        switch (command, rest.count) {
        case ("generate", 2): try Trace.generate(into: rest[0], count: Int(rest[1]) ?? 100_000)
        case ("decode", 1): try Files.decode(rest[0])
        case ("read", 1): try Files.read(rest[0])
        case ("evaluate", 2): try Filters.evaluate(rest[0], rest[1])
        case ("hosts", 2): try Filters.hosts(rest[0], Int(rest[1]) ?? 500)
        case ("craft", 1): Crafting.craft(payload: Int(rest[0]) ?? 0)
        case ("craft-fresh", 1): Crafting.craftFresh(payload: Int(rest[0]) ?? 0)
        case ("write", 1): Crafting.write(size: Int(rest[0]) ?? 60)
        case ("inject", 3): try Crafting.inject(rest[0], count: Int(rest[1]) ?? 100_000, size: Int(rest[2]) ?? 60)
        case ("capture", 3): try Live.capture(rest[0], seconds: Double(rest[1]) ?? 2, immediate: rest[2] == "immediate")
        default: usage()
        }
    }

    private static func usage() { print("run by Scripts/packet-goals, which describes the measurements") }

    static func report(_ name: String, _ value: Double) {
        let thousandths = Int(value * 1000)
        print("\(name) \(thousandths / 1000).\(String(1000 + thousandths % 1000).dropFirst())")
    }

    /// Returns the processor time of this process, in seconds.
    static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Returns the minimum of several rounds: nanoseconds per repetition, of `count` repetitions.
    static func best(of rounds: Int = 7, _ count: Int, _ body: () throws -> Void) rethrows -> Double {
        var least = Double.infinity
        for _ in 0..<rounds {
            let before = processorTime()
            try body()
            least = min(least, processorTime() - before)
        }
        return least / Double(count) * 1e9
    }

    /// Uses a result, so that the optimizer does not remove its computation.
    @inline(never) static func use(_ value: Int) {
        if value == .min { print(value) }
    }
}
