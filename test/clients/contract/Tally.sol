// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.30;

/// A counter with one of everything that a client library has to decode.
contract Tally {
    uint256 private constant MOST = 100;

    event Raised(address indexed by, uint256 value);

    error TooMuch(uint256 asked, uint256 most);

    uint256 public value;

    constructor(uint256 first) {
        value = first;
    }

    function raise(uint256 by) external {
        if (by > MOST) revert TooMuch(by, MOST);
        value += by;
        emit Raised(msg.sender, value);
    }

    function refuse() external {
        revert("the tally is closed");
    }
}
