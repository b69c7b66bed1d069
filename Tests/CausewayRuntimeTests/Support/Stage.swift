import CausewayRuntime
import CausewaySystem
import CausewayTestKit
import CausewayTypes
import Dispatch
import FoundationEssentials

/// Records lines in the order of the events. Any thread may add lines.
final class Log: Sendable {
    private let lines = LockedValue<[String]>([])

    var all: [String] { lines.withLock { $0 } }
    var count: Int { lines.withLock { $0.count } }
    func note(_ line: String) { lines.withLock { $0.append(line) } }

    /// Returns the lines that were added since the previous call.
    func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}

/// A flow with a simulated kernel, on a loop that the test drives. Nothing waits, and the only other thread is that of
/// the program's queue.
final class Stage: Sendable {
    let loop = ManualLoop()
    let kernel: ScriptedKernel
    let flow: Flow
    let queue = DispatchQueue(label: "stage", target: .global())
    let delivery: Delivery
    let log = Log()
    let owner: Owner

    init(kind: Flow.Kind = .stream, room: Int = .max, begins: Bool = true) {
        kernel = ScriptedKernel(room: room)
        flow = Flow(loop: loop, kind: kind)
        delivery = SharedDelivery.on(queue).delivery
        owner = Owner(log, delivery)
        flow.deliver(on: delivery)
        if begins { begin() }
    }

    /// The flow's owner in these tests. Like a connection, it reports the end after all earlier deliveries.
    final class Owner: FlowOwner {
        private let log: Log
        private let delivery: Delivery

        init(_ log: Log, _ delivery: Delivery) {
            self.log = log
            self.delivery = delivery
        }

        private func note(_ line: String) {
            delivery.post(.call { [log] in log.note(line) })
        }

        func flowFailed(_ error: Failure) { note("failed \(error.code)") }
        func flowLost(_ error: Failure) { note("lost \(error.code)") }
        func flowEnded() {}
        func flowClosed() { note("closed") }
        func flowDetached(because reason: Failure?) { note("detached") }
    }

    func begin(_ other: ScriptedKernel? = nil) {
        flow.attach(.scripted(other ?? kernel), owner: owner)
        loop.batch { flow.begin() }
        settle()
    }

    // MARK: Program

    func receive(_ name: String, _ minimum: Int, _ maximum: Int) {
        flow.receive(minimum: minimum, maximum: maximum) { [log] content in log.note(Self.line(name, content)) }
        settle()
    }

    func receiveMessage(_ name: String) {
        flow.receiveMessage { [log] content in log.note(Self.line(name, content)) }
        settle()
    }

    func send(_ name: String, _ text: String?, endsStream: Bool = false) {
        flow.send(
            Outbound(
                text.map { Data($0.utf8) }, endsStream: endsStream,
                waiter: .callback { [log] in log.note(Self.line(name, $0)) }))
        settle()
    }

    func close(abortively: Bool = false) {
        if !flow.close(abortively: abortively, owner: owner) { log.note("nothing to close") }
        settle()
    }

    static func line(_ name: String, _ content: ReceivedContent) -> String {
        var line = name
        if let data = content.data {
            line += " '\(String(decoding: data, as: UTF8.self))'"
            if data.startIndex != 0 { line += " from \(data.startIndex)" }
        }
        if content.isComplete { line += " complete" }
        if content.isFinal { line += " final" }
        if let error = content.error { line += " error \(error.code)" }
        return line
    }

    static func line(_ name: String, _ result: Result<Data?, Failure>) -> String {
        switch result {
        case .success(let data?): "\(name) '\(String(decoding: data, as: UTF8.self))'"
        case .success(nil): "\(name) end"
        case .failure(let failure): "\(name) error \(failure.code)"
        }
    }

    static func line(_ name: String, _ failure: Failure?) -> String {
        failure.map { "\(name) error \($0.code)" } ?? "\(name) sent"
    }

    // MARK: Kernel

    func arrive(_ text: String) {
        kernel.arrive(text.utf8)
        edge(.readable)
    }

    func edge(_ readiness: Readiness) {
        loop.batch { flow.ready(for: readiness) }
        settle()
    }

    func addRoom(_ count: Int) {
        kernel.room += count
        edge(.writable)
    }

    /// Runs all queued work on the loop and on the program's queue.
    func settle() {
        var quietTurns = 0
        while quietTurns < 2 {
            let before = progress
            loop.runUntilIdle()
            queue.sync {}
            quietTurns = progress == before ? quietTurns + 1 : 0
        }
    }

    private var progress: [Int] { [kernel.reads.count, kernel.writes.count, log.count, loop.turnCount] }

    /// Starts a task on the loop. It continues each time the stage processes its pending work.
    func task(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        let task = Task(executorPreference: loop.executor) { await body() }
        settle()
        return task
    }
}
