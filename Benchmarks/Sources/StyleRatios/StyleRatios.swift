import CPlain

/// Compares Causeway's styles with a plain epoll loop; the load and the servers run in one process. See README.md.
@main
struct StyleRatios {
    /// Number of rounds. In each round, every server has one turn. The program prints the median.
    private static let turns = 5

    private struct Kind {
        var name: String
        var work: CausewayServer.Work
        /// The amount of work in one run, and its unit.
        var amount: Double
        var unit: String
        var run: (UInt16) -> Double
    }

    static func main() throws {
        let isQuick = CommandLine.arguments.contains("--quick")
        let rounds = isQuick ? 2_000 : 20_000
        let byteCount = (isQuick ? 256 : 2_048) << 20
        let kinds = [
            Kind(name: "ping-pong, 1 connection", work: .echo, amount: Double(rounds), unit: "round trips/s") {
                plain_ping_pong($0, 1, rounds)
            },
            Kind(
                name: "ping-pong, 64 connections", work: .echo, amount: Double(rounds / 16 * 64), unit: "round trips/s"
            ) {
                plain_ping_pong($0, 64, rounds / 16)
            },
            Kind(name: "bulk to the server", work: .sink, amount: Double(byteCount) / 1e6, unit: "MB/s") {
                plain_bulk($0, byteCount)
            },
        ]
        for kind in kinds { try compare(kind) }
    }

    private static func compare(_ kind: Kind) throws {
        let plain = plain_server_start(kind.work == .echo)
        let servers = try CausewayServer.Style.allCases.map { style in (style, try CausewayServer(style, kind.work)) }
        let ports = servers.map { $0.1.start() }
        var times = [[Double]](repeating: [], count: ports.count)
        var ratios = times
        var plainTimes: [Double] = []
        for _ in 0..<turns {
            let yardstick = kind.run(plain)
            plainTimes.append(yardstick)
            for (index, port) in ports.enumerated() {
                let time = kind.run(port)
                times[index].append(time)
                ratios[index].append(time / yardstick)
            }
        }
        print(kind.name)
        report("plain epoll", kind, median(plainTimes), 1)
        for (index, server) in servers.enumerated() {
            report(server.0.rawValue, kind, median(times[index]), median(ratios[index]))
            server.1.stop()
        }
    }

    private static func report(_ name: String, _ kind: Kind, _ seconds: Double, _ ratio: Double) {
        let rate = Int(kind.amount / seconds)
        let hundredths = Int((ratio * 100).rounded())
        let text = "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
        print("  \(name): \(rate) \(kind.unit), time \(text) of plain epoll")
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
