   0.881s . patrol.1: what was before is not kept
   0.881s * Duty: running
   0.881s * Duty/Rounds: running
   0.881s * Duty/Rounds/Round: running
   0.881s * Duty/Rounds/Round/Rooms: running
   0.881s * Duty/Rounds/Round/Rooms/Visit: running
   0.881s * Duty/Rounds/Round/Rooms/Visit/Sequence: running
   0.881s * Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: running
   0.886s + Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: success after 5.3ms
   0.886s > Duty/Rounds/Round/Rooms/Visit/Sequence/Look: set found="hall is quiet"
   0.886s + Duty/Rounds/Round/Rooms/Visit/Sequence/Look: success
   0.886s + Duty/Rounds/Round/Rooms/Visit/Sequence: success after 5.3ms
   0.886s > Duty/Rounds/Round/Rooms/Visit: set seen="hall is quiet"
   0.886s + Duty/Rounds/Round/Rooms/Visit: success after 5.3ms
   0.886s > Duty/Rounds/Round/Rooms/Visit: set room="lab"
   0.886s * Duty/Rounds/Round/Rooms/Visit: running
   0.886s > Duty/Rounds/Round/Rooms/Visit: set found="", room="lab"
   0.886s * Duty/Rounds/Round/Rooms/Visit/Sequence: running
   0.886s * Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: running
   0.891s + Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: success after 4.4ms
   0.891s > Duty/Rounds/Round/Rooms/Visit/Sequence/Look: set found="lab is quiet"
   0.891s + Duty/Rounds/Round/Rooms/Visit/Sequence/Look: success
   0.891s + Duty/Rounds/Round/Rooms/Visit/Sequence: success after 4.4ms
   0.891s > Duty/Rounds/Round/Rooms/Visit: set seen="lab is quiet"
   0.891s + Duty/Rounds/Round/Rooms/Visit: success after 4.4ms
   0.891s + Duty/Rounds/Round/Rooms: success after 9.7ms
   0.891s > Duty/Rounds/Round/Report: log: round 33: lab is quiet
   0.891s + Duty/Rounds/Round/Report: success
   0.891s * Duty/Rounds/Round/ForceSuccess: running
   0.891s * Duty/Rounds/Round/ForceSuccess/Radio: running
   0.892s x Duty/Rounds/Round/ForceSuccess/Radio: failure after 1.19ms: exited with status 3
   0.892s + Duty/Rounds/Round/ForceSuccess: success after 1.19ms
   0.892s * Duty/Rounds/Round/Rest: running
   0.892s * Duty/Rounds/Round/Rest/Nap: running
   0.900s + Duty/Rounds/Round/Rest/Nap: success after 8.1ms
   0.900s + Duty/Rounds/Round/Rest: success after 8.1ms
   0.900s + Duty/Rounds/Round: success after 19ms
   0.900s * Duty/Rounds/Round: running
   0.900s > Duty/Rounds/Round/Count: set round=34
   0.900s + Duty/Rounds/Round/Count: success
   0.900s * Duty/Rounds/Round/Rooms: running
   0.900s > Duty/Rounds/Round/Rooms/Visit: set room="hall"
   0.900s * Duty/Rounds/Round/Rooms/Visit: running
   0.900s > Duty/Rounds/Round/Rooms/Visit: set found="", room="hall"
   0.900s * Duty/Rounds/Round/Rooms/Visit/Sequence: running
   0.900s * Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: running
   0.905s + Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: success after 4.64ms
   0.905s > Duty/Rounds/Round/Rooms/Visit/Sequence/Look: set found="hall is quiet"
   0.905s + Duty/Rounds/Round/Rooms/Visit/Sequence/Look: success
   0.905s + Duty/Rounds/Round/Rooms/Visit/Sequence: success after 4.64ms
   0.905s > Duty/Rounds/Round/Rooms/Visit: set seen="hall is quiet"
   0.905s + Duty/Rounds/Round/Rooms/Visit: success after 4.64ms
   0.905s > Duty/Rounds/Round/Rooms/Visit: set room="lab"
   0.905s * Duty/Rounds/Round/Rooms/Visit: running
   0.905s > Duty/Rounds/Round/Rooms/Visit: set found="", room="lab"
   0.905s * Duty/Rounds/Round/Rooms/Visit/Sequence: running
   0.905s * Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: running
   0.909s + Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: success after 4.16ms
   0.909s > Duty/Rounds/Round/Rooms/Visit/Sequence/Look: set found="lab is quiet"
   0.909s + Duty/Rounds/Round/Rooms/Visit/Sequence/Look: success
   0.909s + Duty/Rounds/Round/Rooms/Visit/Sequence: success after 4.16ms
   0.909s > Duty/Rounds/Round/Rooms/Visit: set seen="lab is quiet"
   0.909s + Duty/Rounds/Round/Rooms/Visit: success after 4.16ms
   0.909s + Duty/Rounds/Round/Rooms: success after 8.8ms
   0.909s > Duty/Rounds/Round/Report: log: round 34: lab is quiet
   0.909s + Duty/Rounds/Round/Report: success
   0.909s * Duty/Rounds/Round/ForceSuccess: running
   0.909s * Duty/Rounds/Round/ForceSuccess/Radio: running
   0.910s x Duty/Rounds/Round/ForceSuccess/Radio: failure after 1.49ms: exited with status 3
   0.910s + Duty/Rounds/Round/ForceSuccess: success after 1.49ms
   0.910s * Duty/Rounds/Round/Rest: running
   0.910s * Duty/Rounds/Round/Rest/Nap: running
   0.919s + Duty/Rounds/Round/Rest/Nap: success after 8.17ms
   0.919s + Duty/Rounds/Round/Rest: success after 8.17ms
   0.919s + Duty/Rounds/Round: success after 18.5ms
   0.919s * Duty/Rounds/Round: running
   0.919s > Duty/Rounds/Round/Count: set round=35
   0.919s + Duty/Rounds/Round/Count: success
   0.919s * Duty/Rounds/Round/Rooms: running
   0.919s > Duty/Rounds/Round/Rooms/Visit: set room="hall"
   0.919s * Duty/Rounds/Round/Rooms/Visit: running
   0.919s > Duty/Rounds/Round/Rooms/Visit: set found="", room="hall"
   0.919s * Duty/Rounds/Round/Rooms/Visit/Sequence: running
   0.919s * Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: running
   0.923s + Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: success after 4.12ms
   0.923s > Duty/Rounds/Round/Rooms/Visit/Sequence/Look: set found="hall is quiet"
   0.923s + Duty/Rounds/Round/Rooms/Visit/Sequence/Look: success
   0.923s + Duty/Rounds/Round/Rooms/Visit/Sequence: success after 4.12ms
   0.923s > Duty/Rounds/Round/Rooms/Visit: set seen="hall is quiet"
   0.923s + Duty/Rounds/Round/Rooms/Visit: success after 4.12ms
   0.923s > Duty/Rounds/Round/Rooms/Visit: set room="lab"
   0.923s * Duty/Rounds/Round/Rooms/Visit: running
   0.923s > Duty/Rounds/Round/Rooms/Visit: set found="", room="lab"
   0.923s * Duty/Rounds/Round/Rooms/Visit/Sequence: running
   0.923s * Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: running
   0.927s + Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: success after 4.13ms
   0.927s > Duty/Rounds/Round/Rooms/Visit/Sequence/Look: set found="lab is quiet"
   0.927s + Duty/Rounds/Round/Rooms/Visit/Sequence/Look: success
   0.927s + Duty/Rounds/Round/Rooms/Visit/Sequence: success after 4.13ms
   0.927s > Duty/Rounds/Round/Rooms/Visit: set seen="lab is quiet"
   0.927s + Duty/Rounds/Round/Rooms/Visit: success after 4.13ms
   0.927s + Duty/Rounds/Round/Rooms: success after 8.25ms
   0.927s > Duty/Rounds/Round/Report: log: round 35: lab is quiet
   0.927s + Duty/Rounds/Round/Report: success
   0.927s * Duty/Rounds/Round/ForceSuccess: running
   0.927s * Duty/Rounds/Round/ForceSuccess/Radio: running
   0.928s x Duty/Rounds/Round/ForceSuccess/Radio: failure after 1.14ms: exited with status 3
   0.928s + Duty/Rounds/Round/ForceSuccess: success after 1.14ms
   0.928s * Duty/Rounds/Round/Rest: running
   0.928s * Duty/Rounds/Round/Rest/Nap: running
   0.936s + Duty/Rounds/Round/Rest/Nap: success after 8.14ms
   0.936s + Duty/Rounds/Round/Rest: success after 8.14ms
   0.936s + Duty/Rounds/Round: success after 17.5ms
   0.936s * Duty/Rounds/Round: running
   0.936s > Duty/Rounds/Round/Count: set round=36
   0.936s + Duty/Rounds/Round/Count: success
   0.936s * Duty/Rounds/Round/Rooms: running
   0.936s > Duty/Rounds/Round/Rooms/Visit: set room="hall"
   0.936s * Duty/Rounds/Round/Rooms/Visit: running
   0.936s > Duty/Rounds/Round/Rooms/Visit: set found="", room="hall"
   0.936s * Duty/Rounds/Round/Rooms/Visit/Sequence: running
   0.936s * Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: running
   0.940s + Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: success after 4.14ms
   0.940s > Duty/Rounds/Round/Rooms/Visit/Sequence/Look: set found="hall is quiet"
   0.940s + Duty/Rounds/Round/Rooms/Visit/Sequence/Look: success
   0.940s + Duty/Rounds/Round/Rooms/Visit/Sequence: success after 4.14ms
   0.940s > Duty/Rounds/Round/Rooms/Visit: set seen="hall is quiet"
   0.940s + Duty/Rounds/Round/Rooms/Visit: success after 4.14ms
   0.940s > Duty/Rounds/Round/Rooms/Visit: set room="lab"
   0.940s * Duty/Rounds/Round/Rooms/Visit: running
   0.940s > Duty/Rounds/Round/Rooms/Visit: set found="", room="lab"
   0.940s * Duty/Rounds/Round/Rooms/Visit/Sequence: running
   0.940s * Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: running
   0.944s + Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: success after 4.13ms
   0.944s > Duty/Rounds/Round/Rooms/Visit/Sequence/Look: set found="lab is quiet"
   0.944s + Duty/Rounds/Round/Rooms/Visit/Sequence/Look: success
   0.944s + Duty/Rounds/Round/Rooms/Visit/Sequence: success after 4.13ms
   0.944s > Duty/Rounds/Round/Rooms/Visit: set seen="lab is quiet"
   0.944s + Duty/Rounds/Round/Rooms/Visit: success after 4.13ms
   0.944s + Duty/Rounds/Round/Rooms: success after 8.26ms
   0.944s > Duty/Rounds/Round/Report: log: round 36: lab is quiet
   0.944s + Duty/Rounds/Round/Report: success
   0.944s * Duty/Rounds/Round/ForceSuccess: running
   0.944s * Duty/Rounds/Round/ForceSuccess/Radio: running
   0.945s x Duty/Rounds/Round/ForceSuccess/Radio: failure after 936us: exited with status 3
   0.945s + Duty/Rounds/Round/ForceSuccess: success after 936us
   0.945s * Duty/Rounds/Round/Rest: running
   0.945s * Duty/Rounds/Round/Rest/Nap: running
   0.954s + Duty/Rounds/Round/Rest/Nap: success after 8.18ms
   0.954s + Duty/Rounds/Round/Rest: success after 8.18ms
   0.954s + Duty/Rounds/Round: success after 17.4ms
   0.954s * Duty/Rounds/Round: running
   0.954s > Duty/Rounds/Round/Count: set round=37
   0.954s + Duty/Rounds/Round/Count: success
   0.954s * Duty/Rounds/Round/Rooms: running
   0.954s > Duty/Rounds/Round/Rooms/Visit: set room="hall"
   0.954s * Duty/Rounds/Round/Rooms/Visit: running
   0.954s > Duty/Rounds/Round/Rooms/Visit: set found="", room="hall"
   0.954s * Duty/Rounds/Round/Rooms/Visit/Sequence: running
   0.954s * Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: running
   0.954s = Duty/Rounds/Round/Rest/Nap: has a breakpoint from now on
   0.959s + Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: success after 5.12ms
   0.959s > Duty/Rounds/Round/Rooms/Visit/Sequence/Look: set found="hall is quiet"
   0.959s + Duty/Rounds/Round/Rooms/Visit/Sequence/Look: success
   0.959s + Duty/Rounds/Round/Rooms/Visit/Sequence: success after 5.12ms
   0.959s > Duty/Rounds/Round/Rooms/Visit: set seen="hall is quiet"
   0.959s + Duty/Rounds/Round/Rooms/Visit: success after 5.12ms
   0.959s > Duty/Rounds/Round/Rooms/Visit: set room="lab"
   0.959s * Duty/Rounds/Round/Rooms/Visit: running
   0.959s > Duty/Rounds/Round/Rooms/Visit: set found="", room="lab"
   0.959s * Duty/Rounds/Round/Rooms/Visit/Sequence: running
   0.959s * Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: running
   0.963s + Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: success after 4.33ms
   0.963s > Duty/Rounds/Round/Rooms/Visit/Sequence/Look: set found="lab is quiet"
   0.963s + Duty/Rounds/Round/Rooms/Visit/Sequence/Look: success
   0.963s + Duty/Rounds/Round/Rooms/Visit/Sequence: success after 4.33ms
   0.963s > Duty/Rounds/Round/Rooms/Visit: set seen="lab is quiet"
   0.963s + Duty/Rounds/Round/Rooms/Visit: success after 4.33ms
   0.963s + Duty/Rounds/Round/Rooms: success after 9.44ms
   0.963s > Duty/Rounds/Round/Report: log: round 37: lab is quiet
   0.963s + Duty/Rounds/Round/Report: success
   0.963s * Duty/Rounds/Round/ForceSuccess: running
   0.963s * Duty/Rounds/Round/ForceSuccess/Radio: running
   0.967s x Duty/Rounds/Round/ForceSuccess/Radio: failure after 3.56ms: exited with status 3
   0.967s + Duty/Rounds/Round/ForceSuccess: success after 3.56ms
   0.967s * Duty/Rounds/Round/Rest: running
   0.967s * Duty/Rounds/Round/Rest/Nap: running
   0.967s = Duty/Rounds/Round/Rest/Nap: stands at its breakpoint
   1.069s > patrol.1: resumed
   1.078s + Duty/Rounds/Round/Rest/Nap: success after 111ms
   1.078s + Duty/Rounds/Round/Rest: success after 111ms
   1.078s + Duty/Rounds/Round: success after 124ms
   1.078s * Duty/Rounds/Round: running
   1.078s > Duty/Rounds/Round/Count: set round=38
   1.078s + Duty/Rounds/Round/Count: success
   1.078s * Duty/Rounds/Round/Rooms: running
   1.078s > Duty/Rounds/Round/Rooms/Visit: set room="hall"
   1.078s * Duty/Rounds/Round/Rooms/Visit: running
   1.078s > Duty/Rounds/Round/Rooms/Visit: set found="", room="hall"
   1.078s * Duty/Rounds/Round/Rooms/Visit/Sequence: running
   1.078s * Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: running
   1.082s + Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: success after 4.37ms
   1.082s > Duty/Rounds/Round/Rooms/Visit/Sequence/Look: set found="hall is quiet"
   1.082s + Duty/Rounds/Round/Rooms/Visit/Sequence/Look: success
   1.082s + Duty/Rounds/Round/Rooms/Visit/Sequence: success after 4.37ms
   1.082s > Duty/Rounds/Round/Rooms/Visit: set seen="hall is quiet"
   1.082s + Duty/Rounds/Round/Rooms/Visit: success after 4.37ms
   1.082s > Duty/Rounds/Round/Rooms/Visit: set room="lab"
   1.082s * Duty/Rounds/Round/Rooms/Visit: running
   1.082s > Duty/Rounds/Round/Rooms/Visit: set found="", room="lab"
   1.082s * Duty/Rounds/Round/Rooms/Visit/Sequence: running
   1.082s * Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: running
   1.091s + Duty/Rounds/Round/Rooms/Visit/Sequence/Walk: success after 8.78ms
   1.091s > Duty/Rounds/Round/Rooms/Visit/Sequence/Look: set found="lab is quiet"
   1.091s + Duty/Rounds/Round/Rooms/Visit/Sequence/Look: success
   1.091s + Duty/Rounds/Round/Rooms/Visit/Sequence: success after 8.78ms
   1.091s > Duty/Rounds/Round/Rooms/Visit: set seen="lab is quiet"
   1.091s + Duty/Rounds/Round/Rooms/Visit: success after 8.78ms
   1.091s + Duty/Rounds/Round/Rooms: success after 13.1ms
   1.091s > Duty/Rounds/Round/Report: log: round 38: lab is quiet
   1.091s + Duty/Rounds/Round/Report: success
   1.091s * Duty/Rounds/Round/ForceSuccess: running
   1.091s * Duty/Rounds/Round/ForceSuccess/Radio: running
   1.092s x Duty/Rounds/Round/ForceSuccess/Radio: failure after 1.34ms: exited with status 3
   1.092s + Duty/Rounds/Round/ForceSuccess: success after 1.34ms
   1.092s * Duty/Rounds/Round/Rest: running
   1.092s * Duty/Rounds/Round/Rest/Nap: running
   1.092s = Duty/Rounds/Round/Rest/Nap: stands at its breakpoint
   1.114s * patrol.1: halting, halted by UID 0 (btctl)
   1.114s # Duty/Rounds/Round/Rest/Nap: halted after 21.3ms by UID 0 (btctl)
   1.114s # Duty/Rounds/Round/Rest: halted after 21.3ms by UID 0 (btctl)
   1.114s # Duty/Rounds/Round: halted after 35.8ms by UID 0 (btctl)
   1.114s # Duty/Rounds: halted after 1.11s by UID 0 (btctl)
   1.114s # Duty: halted after 1.11s by UID 0 (btctl)
   1.114s # patrol.1: halted after 1.11s by UID 0 (btctl)
