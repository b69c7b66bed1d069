/// How long a connection that is about to close waits for its client.
struct ServerPatience {
    /// The time for the client to close its side after the server has sent all bytes.
    let lingerTime: Duration
    /// The time that the client has to accept more bytes.
    let stallTime: Duration

    /// Returns the time at which the connection closes unless the client makes progress.
    func deadline(at now: Duration, isSending: Bool) -> Duration { now + (isSending ? stallTime : lingerTime) }
}
