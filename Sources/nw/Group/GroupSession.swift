import Causeway
import CausewayTypes
import CausewayWire
import Dispatch
import FoundationEssentials

/// One run of `nw group`.
struct GroupSession: Sendable {
    private enum Event: Sendable {
        case state(NWConnectionGroup.State)
        case message(PrintableText)
    }

    let group: NWConnectionGroup
    let command: GroupCommand

    func run() async throws {
        let (events, feed) = AsyncStream.makeStream(of: Event.self)
        group.stateUpdateHandler = { feed.yield(.state($0)) }
        let (echoes, isVerbose, isJSON) = (command.echo, command.verbose, command.json)
        let backlog = MessageBacklog()
        group.setReceiveHandler(
            maximumMessageSize: command.maximum ?? .max, rejectOversizedMessages: false
        ) { message, content, isComplete in
            let content = content ?? Data()
            let text =
                isJSON
                ? PrintableText(json: GroupMessage(message, content, isComplete))
                : line(for: message, content, isComplete, isVerbose)
            switch backlog.add(text) {
            case .admitted: feed.yield(.message(text))
            case .firstDropped: printError("nw: group: messages are dropped, because standard output is slow")
            case .dropped: break
            }
            if echoes { message.reply(content: content) }
        }
        group.start(queue: DispatchQueue(label: "nw.group"))
        defer { group.cancel() }
        try await withThrowingTaskGroup(of: Bool.self) { tasks in
            tasks.addTask {
                try await follow(events, backlog)
                return true
            }
            if !command.detached {
                tasks.addTask {
                    try await upload()
                    return command.endsWithInput
                }
            }
            while let isOver = try await tasks.next(), !isOver {}
            tasks.cancelAll()
        }
    }

    private func follow(_ events: AsyncStream<Event>, _ backlog: MessageBacklog) async throws {
        for await event in events {
            switch event {
            case .message(let line):
                try await StandardOutput.write("\(line)\n")
                backlog.remove(line)
            case .state(.failed(let error)): throw CommandFailure("\(group.descriptor.label) failed", error)
            case .state(.waiting(let error)): printError("nw: group: waiting: \(describe(error))")
            case .state(.ready): if command.verbose { printError("nw: group: ready") }
            case .state(.setup), .state(.cancelled): break
            }
        }
    }

    private func upload() async throws {
        while let chunk = try await StandardInput.shared.next(atMost: 16_384) {
            // The message does not include the newline at the end of a typed line.
            let text = chunk.last == UInt8(ascii: "\n") ? chunk.dropLast() : chunk
            let error = await withCheckedContinuation { continuation in
                group.send(content: Data(text)) { error in continuation.resume(returning: error) }
            }
            if let error { throw CommandFailure("send to \(group.descriptor.label) failed", error) }
        }
    }
}

/// A message as a JSON object.
private struct GroupMessage: Encodable {
    var sender: String?
    var target: String?
    var interface: String?
    /// The content size in bytes.
    var bytes: Int
    /// The content, if it is valid UTF-8 text.
    var text: String?
    /// The content as hexadecimal digits, if it is not text.
    var hex: String?
    var isComplete: Bool

    init(_ message: NWConnectionGroup.Message, _ content: Data, _ isComplete: Bool) {
        sender = message.remoteEndpoint?.label
        target = message.localEndpoint?.label
        interface = message.path?.availableInterfaces.first?.name
        bytes = content.count
        text = String(validating: content, as: UTF8.self)
        if text == nil { hex = Hexadecimal.text(content) }
        self.isComplete = isComplete
    }
}

/// Returns a message's line: the sender; with -v the destination address and interface; the content; and `[more]` if
/// the message was longer than the maximum size and its rest was cut off.
private func line(
    for message: NWConnectionGroup.Message, _ content: Data, _ isComplete: Bool, _ isVerbose: Bool
) -> PrintableText {
    let sender = message.remoteEndpoint?.label ?? "?"
    let target = message.localEndpoint?.label ?? "?"
    let interface = message.path?.availableInterfaces.first?.name ?? "?"
    let way = isVerbose ? " to \(target) over \(interface)" : ""
    let text = String(decoding: content, as: UTF8.self)
    return "\(sender)\(way): \(text)\(isComplete ? "" : " [more]")"
}

extension NWGroupDescriptor {
    fileprivate var label: String { members.map(\.label).joined(separator: ", ") }
}
