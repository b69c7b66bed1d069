/// One who hears programs over the system's message bus, without I/O: a driver carries bytes both ways.
package protocol BusClient: Sendable, ~Copyable {
    associatedtype News: Equatable, Sendable

    /// Why nothing will be heard any more; `nil` while something may.
    var end: String? { get }

    /// What holds now, of what was heard.
    var news: News { get }

    /// What is to be sent, once.
    mutating func takeOutput() -> [UInt8]

    /// Takes what came from the bus, in whatever pieces.
    mutating func receive(_ bytes: [UInt8])
}
