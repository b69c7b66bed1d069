import ArgumentParser

/// The task of `nw peers`, parsed from its arguments.
enum PeersTask: Equatable, Sendable {
    case list(String)
    case pick(String)
    case pair(String, text: String?)
    case pins(String)
    case forget(String, peer: String)
    case doctor(String)

    /// The service type under which `nw peers doctor` advertises its test peer. Programs with other types do not
    /// discover this peer.
    static let doctorType = "nw-doctor"
    /// Command words that must be followed by a service type.
    private static let needingType: Set<String> = ["pick", "pair", "pins", "forget"]

    /// - Throws: `ValidationError`.
    init(_ words: [String]) throws {
        switch (words.first ?? "", words.count) {
        case ("doctor", 1): self = .doctor(Self.doctorType)
        case (let task, 1) where Self.needingType.contains(task):
            throw ValidationError("\(task) needs a TYPE, such as: nw peers \(task) abc-chat")
        case ("doctor", 2): self = .doctor(words[1])
        case ("pick", 2): self = .pick(words[1])
        case ("pair", 2): self = .pair(words[1], text: nil)
        case ("pair", 3): self = .pair(words[1], text: words[2])
        case ("pins", 2): self = .pins(words[1])
        case ("forget", 3): self = .forget(words[1], peer: words[2])
        case (let type, 1): self = .list(type)
        default: throw ValidationError("Specify TYPE, or pick, pair, pins, forget or doctor and its words.")
        }
    }

    var service: String {
        switch self {
        case .list(let type), .pick(let type), .pair(let type, _), .pins(let type), .forget(let type, _),
            .doctor(let type):
            type
        }
    }

    /// The command-line options that this task accepts.
    var options: Set<String> {
        switch self {
        case .list: ["json", "time"]
        case .pick: ["name"]
        case .pair(_, nil): ["json", "time", "name", "compare"]
        case .pair: ["json", "time", "name"]
        case .pins: ["json"]
        case .forget: []
        case .doctor: ["json", "time"]
        }
    }
}
