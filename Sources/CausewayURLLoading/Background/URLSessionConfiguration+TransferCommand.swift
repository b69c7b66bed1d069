extension URLSessionConfiguration {
    /// The command that continues a background session's tasks while the program is not running: `nw`, to look it up in
    /// `PATH`, or its absolute path. With `nil`, which is the default, the session starts no process.
    ///
    /// A session with tasks starts the command as `nw transfers run --until-idle`, one process for all of the user's
    /// programs. In `PATH`, only Causeway's command is used, and only if its owner alone can write it. If the command is
    /// missing, the session writes a message to the system log.
    ///
    /// The environment variable `CAUSEWAY_TRANSFERS_COMMAND` replaces this value. If the variable is empty, no process
    /// is started.
    ///
    /// An addition: Apple's API has no counterpart, because a system service transfers there.
    public var backgroundTransferCommand: String? {
        get { settings.background.transferCommand }
        set { settings.background.transferCommand = newValue }
    }
}
