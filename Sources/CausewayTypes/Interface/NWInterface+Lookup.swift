internal import CCausewayLinux

extension NWInterface {
    /// Looks an interface of this host up by its name. Makes a few system calls.
    ///
    /// - Returns: `nil` when there is none of that name now.
    package init?(name: String) {
        // A NUL would end the name early, and find another interface.
        guard !name.isEmpty, name.utf8.count < Int(CAUSEWAY_INTERFACE_NAME_SIZE), !name.utf8.contains(0) else {
            return nil
        }
        // Through the index, because the kernel also answers to alternative names.
        self.init(index: Int(unsafe causeway_interface_index(name)))
    }

    /// Looks an interface of this host up by its index. Makes a few system calls.
    ///
    /// - Returns: `nil` when there is none of that index now.
    package init?(index: Int) {
        guard let kernelIndex = UInt32(exactly: index), kernelIndex != 0 else { return nil }
        let characters = unsafe withUnsafeTemporaryAllocation(
            of: CChar.self, capacity: Int(CAUSEWAY_INTERFACE_NAME_SIZE)
        ) { buffer -> String? in
            guard let start = buffer.baseAddress, unsafe causeway_interface_name(kernelIndex, start) == 0 else {
                return nil
            }
            return unsafe String(cString: start)
        }
        guard let name = characters else { return nil }
        let said = InterfaceOverrides.current[name].type
        self.init(name: name, index: index, type: said ?? InterfaceType(ofInterface: name))
    }
}

extension NWInterface.InterfaceType {
    /// Classifies an interface by what the kernel publishes about it.
    ///
    /// - Parameter directory: The folder that has a folder for each interface.
    package init(ofInterface name: String, in directory: String = "/sys/class/net") {
        self =
            switch unsafe causeway_interface_type(directory, name) {
            case CAUSEWAY_INTERFACE_WIFI: .wifi
            case CAUSEWAY_INTERFACE_CELLULAR: .cellular
            case CAUSEWAY_INTERFACE_WIRED: .wiredEthernet
            case CAUSEWAY_INTERFACE_LOOPBACK: .loopback
            default: .other
            }
    }
}
